# Tries an installer as a person would, on a Windows that has no Handraise: installs it silently, plays the smoke test
# with the installed program, installs over the running program, and removes it again. Exit code 0 when all of it held.
#
#   resources/windows/try-installer.ps1 -Setup dist\handraise-setup.exe -Version 0.1.0
param([Parameter(Mandatory)][string]$Setup, [Parameter(Mandatory)][string]$Version)
$ErrorActionPreference = 'Stop'
Set-StrictMode -Version 3

$Setup = (Resolve-Path $Setup).Path
$folder = Join-Path $env:LOCALAPPDATA 'Programs\Handraise'
$program = Join-Path $folder 'handraise.exe'
$console = Join-Path $folder 'handraise-cli.exe'
$data = Join-Path $env:LOCALAPPDATA 'handraise'
$link = Join-Path ([Environment]::GetFolderPath('Programs')) 'Handraise.lnk'
$entry = 'HKCU:\Software\Microsoft\Windows\CurrentVersion\Uninstall\Handraise'
$verb = 'HKCU:\Software\Classes\Directory\shell\Handraise\command'

function Assert([bool]$holds, [string]$what) {
    if (-not $holds) { throw "It does not hold that $what." }
    Write-Host "ok: $what"
}

function Invoke-Whole([string]$path, [string[]]$arguments, [int]$seconds) {
    $process = Start-Process -FilePath $path -ArgumentList $arguments -PassThru
    $null = $process.Handle # or the exit code is lost
    if (-not $process.WaitForExit($seconds * 1000)) { $process.Kill(); throw "$path did not end within $seconds s." }
    return $process.ExitCode
}

function Wait-Until([scriptblock]$holds, [int]$seconds, [string]$what) {
    $deadline = (Get-Date).AddSeconds($seconds)
    while (-not (& $holds)) {
        if ((Get-Date) -gt $deadline) { throw "After $seconds s it does not hold that $what." }
        Start-Sleep -Milliseconds 200
    }
    Write-Host "ok: $what"
}

Assert (-not (Test-Path $entry)) 'no Handraise is installed'
Assert ((Invoke-Whole $Setup '/S', '/EXPLORER' 300) -eq 0) 'the silent installer says that it is done'
Assert ((Test-Path $program) -and (Test-Path $link)) 'the program and its entry in the start menu are there'
Assert ((Get-ItemProperty $entry).DisplayVersion -eq $Version) 'the list of programs has the version'
Assert ((Get-Item $program).VersionInfo.ProductVersion -eq $Version) "the program's details have the version"
Assert ((Get-ItemProperty $verb).'(default)' -like "*$program*") 'Explorer opens folders with it'
Assert ((& $console --version) -eq "Handraise $Version") 'the console twin says its version'
# Without claude the doctor's exit code is 1; what counts is that it speaks.
$found = & $console doctor --json | ConvertFrom-Json
Assert ($null -ne $found.PSObject.Properties['claude']) "the console twin's doctor reports"

$env:HANDRAISE_LOG = Join-Path ([IO.Path]::GetTempPath()) 'handraise-smoke.log'
$code = Invoke-Whole $program '--demo', '--smoke-test' 300
if (Test-Path $env:HANDRAISE_LOG) { Get-Content -Encoding utf8 $env:HANDRAISE_LOG | Write-Host }
Assert ($code -eq 0) 'the installed program plays its smoke test'

$running = Start-Process -FilePath $program -ArgumentList '--demo' -PassThru
Wait-Until { $running.Refresh(); $running.MainWindowHandle -ne 0 } 120 'the window is there'
Assert ((Invoke-Whole $Setup '/S' 300) -eq 0) 'an upgrade over a running program says that it is done'
Assert $running.HasExited 'the running program was closed'
Assert (Test-Path $verb) 'the upgrade keeps the entry in Explorer'

$null = New-Item -ItemType Directory -Force $data
Set-Content (Join-Path $data 'kept.txt') 'kept'
# The uninstaller goes on from a copy of itself, so its own end says nothing.
$null = Invoke-Whole (Join-Path $folder 'uninstall.exe') '/S' 120
Wait-Until { -not (Test-Path $folder) } 120 'the folder of the program is gone'
Assert (-not ((Test-Path $link) -or (Test-Path $entry) -or (Test-Path $verb))) 'no entry is left'
Assert (Test-Path (Join-Path $data 'kept.txt')) 'the data was kept'

Assert ((Invoke-Whole $Setup '/S' 300) -eq 0) 'it installs again'
$null = Invoke-Whole (Join-Path $folder 'uninstall.exe') '/S', '/DELETEDATA' 120
Wait-Until { -not ((Test-Path $folder) -or (Test-Path $data)) } 120 'program and data are gone when that was asked for'
# The doctor's exit code would be this script's.
exit 0
