; The Windows installer: one file, for one user, without an administrator.
;
;   makensis -DVERSION=0.1.0 -DSOURCE=/.../dist/handraise -DOUTPUT=/.../handraise-setup.exe handraise.nsi
;
; On Linux with LC_ALL=C.UTF-8: in the C locale NSIS 3.08 crashes on names that are not ASCII.
; Paths have a backslash: on Windows `File` splits them at nothing else, and elsewhere makensis turns it round.
;
; VERSION   what desktop.__version__ says
; NUMBERS   the same as four numbers, where VERSION is no plain x.y.z (version_info.py --numbers prints them)
; SOURCE    the folder that PyInstaller made (handraise.exe, handraise-cli.exe, _internal), as an absolute path
; OUTPUT    the installer to write, as an absolute path: makensis works in this script's folder
; TARGET    amd64-unicode, unless the makensis at hand has no 64-bit stub: x86-unicode
; SIGN      a command that signs the file whose quoted name is appended; without it nothing is signed
;
; The finished installer understands
;   /S              no window; a running Handraise is asked to close
;   /EXPLORER       adds "Open in Handraise" to Explorer's menu of folders (kept by later upgrades)
;   /D=FOLDER       where it goes; last, without quotes
; and its uninstaller
;   /S              no window; keeps the settings, drafts and logs
;   /DELETEDATA     removes them, too
; Exit codes: 0 done, 1 cancelled, 2 failed, 3 Handraise runs and does not close, 4 this Windows is too old,
; 5 the folder belongs to another program.

!ifndef TARGET
  !define TARGET amd64-unicode
!endif
Target ${TARGET}

!ifndef VERSION | SOURCE | OUTPUT
  !error "VERSION, SOURCE and OUTPUT are needed; the head of this file says how."
!endif
!ifndef NUMBERS
  !define NUMBERS "${VERSION}.0"
!endif

!define NAME "Handraise"
!define PROGRAM "handraise.exe"
!define CONSOLE "handraise-cli.exe"
!define UNINSTALLER "uninstall.exe"
!define ENTRY "Software\Microsoft\Windows\CurrentVersion\Uninstall\Handraise"
!define FOLDER_VERB "Software\Classes\Directory\shell\Handraise"
!define BACKGROUND_VERB "Software\Classes\Directory\Background\shell\Handraise"
!define DRIVE_VERB "Software\Classes\Drive\shell\Handraise"
; What platformdirs gives for settings, drafts and logs; never the folder of the program.
!define DATA "$LOCALAPPDATA\handraise"
!define CLOSE_SECONDS 30

!define FAILED 2
!define STILL_RUNNING 3
!define TOO_OLD 4
!define FOREIGN_FOLDER 5

!include MUI2.nsh
!include LogicLib.nsh
!include FileFunc.nsh
!include WordFunc.nsh
!include Sections.nsh
!include WinVer.nsh
!include x64.nsh

Name "${NAME}"
OutFile "${OUTPUT}"
InstallDir "$LOCALAPPDATA\Programs\Handraise"
InstallDirRegKey HKCU "${ENTRY}" "InstallLocation"
RequestExecutionLevel user
ManifestDPIAware true
ManifestLongPathAware true
ManifestSupportedOS Win10
BrandingText "${NAME} ${VERSION}"
SetCompressor /SOLID lzma
SetCompressorDictSize 64
ShowInstDetails nevershow
ShowUninstDetails nevershow

VIProductVersion "${NUMBERS}"
VIFileVersion "${NUMBERS}"
VIAddVersionKey /LANG=0 "ProductName" "${NAME}"
VIAddVersionKey /LANG=0 "ProductVersion" "${VERSION}"
VIAddVersionKey /LANG=0 "FileVersion" "${VERSION}"
VIAddVersionKey /LANG=0 "FileDescription" "${NAME} Setup"
VIAddVersionKey /LANG=0 "CompanyName" "The Handraise authors"
VIAddVersionKey /LANG=0 "LegalCopyright" "The Handraise authors, MIT License"

!ifdef SIGN
  !finalize '${SIGN} "%1"' = 0
  !uninstfinalize '${SIGN} "%1"' = 0
!endif

!define MUI_ICON "${__FILEDIR__}\..\icons\handraise.ico"
!define MUI_UNICON "${__FILEDIR__}\..\icons\handraise.ico"
!define MUI_ABORTWARNING
!define MUI_COMPONENTSPAGE_SMALLDESC
!define MUI_FINISHPAGE_RUN "$INSTDIR\${PROGRAM}"

!insertmacro MUI_PAGE_COMPONENTS
!insertmacro MUI_PAGE_INSTFILES
!insertmacro MUI_PAGE_FINISH
!insertmacro MUI_UNPAGE_COMPONENTS
!insertmacro MUI_UNPAGE_INSTFILES
!insertmacro MUI_LANGUAGE "English"
!insertmacro MUI_LANGUAGE "TradChinese"
!include /CHARSET=UTF8 "words.nsh"

; ---------------------------------------------------------------------------------------------------------------------
; A running Handraise, as functions of the installer ("") and of the uninstaller ("un.").

!macro RUNNING UN
; Pushes 1 when a program of $INSTDIR runs, else 0: Windows lets nobody write to a program that runs.
Function ${UN}IsRunning
  Push $0
  Push $1
  StrCpy $1 0
  ${If} ${FileExists} "$INSTDIR\${PROGRAM}"
    ClearErrors
    FileOpen $0 "$INSTDIR\${PROGRAM}" a
    ${If} ${Errors}
      StrCpy $1 1
    ${Else}
      FileClose $0
    ${EndIf}
  ${EndIf}
  ${If} ${FileExists} "$INSTDIR\${CONSOLE}"
    ClearErrors
    FileOpen $0 "$INSTDIR\${CONSOLE}" a
    ${If} ${Errors}
      StrCpy $1 1
    ${Else}
      FileClose $0
    ${EndIf}
  ${EndIf}
  ClearErrors
  StrCpy $0 $1
  Pop $1
  Exch $0
FunctionEnd

; Asks every visible window of the program to close, as its own close button does. Nothing is killed: the
; program ends its CLIs and keeps its drafts while it closes.
Function ${UN}AskToClose
  Push $0 ; window
  Push $1 ; its process id
  Push $2 ; a handle of the process
  Push $3 ; the program's path
  Push $4 ; scratch
  StrCpy $0 0
  ${Do}
    System::Call 'user32::FindWindowExW(p 0, p r0, p 0, p 0) p .r0'
    ${If} $0 P= 0
      ${ExitDo}
    ${EndIf}
    System::Call 'user32::IsWindowVisible(p r0) i .r4'
    ${If} $4 <> 0
      System::Call 'user32::GetWindowThreadProcessId(p r0, *i .r1)'
      ; 0x1000: PROCESS_QUERY_LIMITED_INFORMATION
      System::Call 'kernel32::OpenProcess(i 0x1000, i 0, i r1) p .r2'
      ${If} $2 P<> 0
        StrCpy $3 ""
        System::Call 'kernel32::QueryFullProcessImageNameW(p r2, i 0, w .r3, *i ${NSIS_MAX_STRLEN}) i .r4'
        System::Call 'kernel32::CloseHandle(p r2)'
        ; By its name alone: the same file has more than one path (short names, junctions, mapped drives), and two
        ; copies of the program show but one window anyway.
        ${GetFileName} "$3" $3
        ${If} $4 <> 0
        ${AndIf} $3 == "${PROGRAM}"
          ; 0x10: WM_CLOSE
          System::Call 'user32::PostMessageW(p r0, i 0x10, p 0, p 0)'
        ${EndIf}
      ${EndIf}
    ${EndIf}
  ${Loop}
  Pop $4
  Pop $3
  Pop $2
  Pop $1
  Pop $0
FunctionEnd

; Comes back once nothing of $INSTDIR runs. Quits when the person cancels, or silently after ${CLOSE_SECONDS} seconds.
Function ${UN}EndRunning
  Push $0
  Push $1
  Call ${UN}IsRunning
  Pop $0
  ${If} $0 = 1
  ${AndIfNot} ${Silent}
    MessageBox MB_OKCANCEL|MB_ICONINFORMATION "$(IT_RUNS)" IDOK +3
    SetErrorLevel 1
    Quit
  ${EndIf}
  ${DoWhile} $0 = 1
    StrCpy $1 0
    ${DoWhile} $1 < ${CLOSE_SECONDS}
      ; Again now and then: a window that a dialog blocks does not hear it, and the dialog goes first.
      IntOp $0 $1 % 5
      ${If} $0 = 0
        Call ${UN}AskToClose
      ${EndIf}
      Sleep 1000
      Call ${UN}IsRunning
      Pop $0
      ${If} $0 = 0
        ${ExitDo}
      ${EndIf}
      IntOp $1 $1 + 1
    ${Loop}
    ${If} $0 = 1
      MessageBox MB_RETRYCANCEL|MB_ICONEXCLAMATION "$(IT_STAYS)" /SD IDCANCEL IDRETRY +3
      SetErrorLevel ${STILL_RUNNING}
      Quit
    ${EndIf}
  ${Loop}
  Pop $1
  Pop $0
FunctionEnd
!macroend
!insertmacro RUNNING ""
!insertmacro RUNNING "un."

; ---------------------------------------------------------------------------------------------------------------------
; Installing

; "%V" alone would be "C:\" for a drive, whose backslash takes the closing quote along.
!macro WRITE_VERB KEY
  WriteRegStr HKCU "${KEY}" "" "$(OPEN_FOLDER)"
  WriteRegStr HKCU "${KEY}" "Icon" '"$INSTDIR\${PROGRAM}",0'
  WriteRegStr HKCU "${KEY}\command" "" '"$INSTDIR\${PROGRAM}" "%V\."'
!macroend

!macro DELETE_VERBS
  DeleteRegKey HKCU "${FOLDER_VERB}"
  DeleteRegKey HKCU "${BACKGROUND_VERB}"
  DeleteRegKey HKCU "${DRIVE_VERB}"
!macroend

Section "$(THE_PROGRAM)" TheProgram
  SectionIn RO
  Call EndRunning
  SetOutPath "$INSTDIR"
  ClearErrors
  ; The program's file comes first and goes last: it is what says that `_internal` is ours.
  File "${SOURCE}\${PROGRAM}"
  ${If} ${Errors}
    Goto failed
  ${EndIf}
  ; What an older version had and this one has not must not be found by it.
  RMDir /r "$INSTDIR\_internal"
  ClearErrors
  File "${SOURCE}\${CONSOLE}"
  File /r "${SOURCE}\_internal"
  ${If} ${Errors}
    Goto failed
  ${EndIf}
  WriteUninstaller "$INSTDIR\${UNINSTALLER}"
  CreateShortCut "$SMPROGRAMS\${NAME}.lnk" "$INSTDIR\${PROGRAM}" "" "$INSTDIR\${PROGRAM}" 0 SW_SHOWNORMAL "" "$(WHAT_IT_IS)"

  WriteRegStr HKCU "${ENTRY}" "DisplayName" "${NAME}"
  WriteRegStr HKCU "${ENTRY}" "DisplayVersion" "${VERSION}"
  WriteRegStr HKCU "${ENTRY}" "DisplayIcon" "$INSTDIR\${PROGRAM}"
  WriteRegStr HKCU "${ENTRY}" "Publisher" "The Handraise authors"
  WriteRegStr HKCU "${ENTRY}" "InstallLocation" "$INSTDIR"
  WriteRegStr HKCU "${ENTRY}" "UninstallString" '"$INSTDIR\${UNINSTALLER}"'
  WriteRegStr HKCU "${ENTRY}" "QuietUninstallString" '"$INSTDIR\${UNINSTALLER}" /S'
  WriteRegDWORD HKCU "${ENTRY}" "NoModify" 1
  WriteRegDWORD HKCU "${ENTRY}" "NoRepair" 1
  ${GetSize} "$INSTDIR" "/S=0K" $0 $1 $2
  WriteRegDWORD HKCU "${ENTRY}" "EstimatedSize" $0
  ${If} ${Errors}
    Goto failed
  ${EndIf}
  Return
failed:
  SetErrorLevel ${FAILED}
  MessageBox MB_OK|MB_ICONSTOP "$(IT_FAILED)" /SD IDOK
  Abort "$(IT_FAILED)"
SectionEnd

Section /o "$(IN_EXPLORER)" InExplorer
  !insertmacro WRITE_VERB "${FOLDER_VERB}"
  !insertmacro WRITE_VERB "${BACKGROUND_VERB}"
  !insertmacro WRITE_VERB "${DRIVE_VERB}"
SectionEnd

Section "-without Explorer"
  ${IfNot} ${SectionIsSelected} ${InExplorer}
    !insertmacro DELETE_VERBS
  ${EndIf}
  System::Call 'shell32::SHChangeNotify(i 0x08000000, i 0, p 0, p 0)' ; SHCNE_ASSOCCHANGED
SectionEnd

Function .onInit
  ${IfNot} ${AtLeastWin10}
  ${OrIfNot} ${RunningX64}
    MessageBox MB_OK|MB_ICONSTOP "$(TOO_OLD_WINDOWS)" /SD IDOK
    SetErrorLevel ${TOO_OLD}
    Quit
  ${EndIf}
  SetShellVarContext current
  SetRegView 64
  ; InstallDirRegKey is read before the registry's view is set; both views of HKCU's Uninstall key are one.
  ${If} ${FileExists} "$INSTDIR\_internal\*.*"
  ${AndIfNot} ${FileExists} "$INSTDIR\${PROGRAM}"
    MessageBox MB_OK|MB_ICONSTOP "$(ANOTHER_PROGRAM)" /SD IDOK
    SetErrorLevel ${FOREIGN_FOLDER}
    Quit
  ${EndIf}

  ReadRegStr $0 HKCU "${ENTRY}" "DisplayVersion"
  ${If} $0 != ""
    ${VersionCompare} "$0" "${VERSION}" $1
    ${If} $1 = 1
      MessageBox MB_YESNO|MB_ICONQUESTION|MB_DEFBUTTON2 "$(NEWER_IS_THERE)" /SD IDYES IDYES +3
      SetErrorLevel 1
      Quit
    ${EndIf}
  ${EndIf}

  ${GetParameters} $0
  ClearErrors
  ${GetOptions} $0 "/EXPLORER" $1
  ${IfNot} ${Errors}
    !insertmacro SelectSection ${InExplorer}
  ${EndIf}
  ReadRegStr $1 HKCU "${FOLDER_VERB}\command" ""
  ${If} $1 != ""
    !insertmacro SelectSection ${InExplorer}
  ${EndIf}
  ClearErrors
FunctionEnd

; ---------------------------------------------------------------------------------------------------------------------
; Removing

Section "un.$(THE_PROGRAM)" un.TheProgram
  SectionIn RO
  Call un.EndRunning
  ; Never the whole folder: only what was installed, in case something else was put beside it.
  RMDir /r "$INSTDIR\_internal"
  Delete "$INSTDIR\${CONSOLE}"
  Delete "$INSTDIR\${PROGRAM}"
  ${If} ${FileExists} "$INSTDIR\${PROGRAM}"
  ${OrIf} ${FileExists} "$INSTDIR\_internal\*.*"
    SetErrorLevel ${FAILED}
    MessageBox MB_OK|MB_ICONSTOP "$(NOT_REMOVED)" /SD IDOK
    Abort "$(NOT_REMOVED)"
  ${EndIf}
  Delete "$SMPROGRAMS\${NAME}.lnk"
  !insertmacro DELETE_VERBS
  DeleteRegKey HKCU "${ENTRY}"
  Delete "$INSTDIR\${UNINSTALLER}"
  ; A folder that is the working folder of somebody, this program included, stays.
  SetOutPath "$TEMP"
  RMDir "$INSTDIR"
  System::Call 'shell32::SHChangeNotify(i 0x08000000, i 0, p 0, p 0)'
SectionEnd

Section /o "un.$(ITS_DATA)" un.ItsData
  ${If} $LOCALAPPDATA != ""
    RMDir /r "${DATA}"
    ${If} ${FileExists} "${DATA}\*.*"
      SetErrorLevel ${FAILED}
      MessageBox MB_OK|MB_ICONEXCLAMATION "$(DATA_NOT_REMOVED)" /SD IDOK
    ${EndIf}
  ${EndIf}
SectionEnd

Function un.onInit
  SetShellVarContext current
  SetRegView 64
  ${GetParameters} $0
  ClearErrors
  ${GetOptions} $0 "/DELETEDATA" $1
  ${IfNot} ${Errors}
    !insertmacro SelectSection ${un.ItsData}
  ${EndIf}
  ClearErrors
FunctionEnd

!insertmacro MUI_FUNCTION_DESCRIPTION_BEGIN
  !insertmacro MUI_DESCRIPTION_TEXT ${TheProgram} "$(ABOUT_PROGRAM)"
  !insertmacro MUI_DESCRIPTION_TEXT ${InExplorer} "$(ABOUT_EXPLORER)"
!insertmacro MUI_FUNCTION_DESCRIPTION_END
!insertmacro MUI_UNFUNCTION_DESCRIPTION_BEGIN
  !insertmacro MUI_DESCRIPTION_TEXT ${un.TheProgram} "$(ABOUT_REMOVAL)"
  !insertmacro MUI_DESCRIPTION_TEXT ${un.ItsData} "$(ABOUT_DATA)"
!insertmacro MUI_UNFUNCTION_DESCRIPTION_END
