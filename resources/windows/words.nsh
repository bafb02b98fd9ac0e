; What the installer says, in the languages of the interface. handraise.nsi includes it.

!macro WORDS NAME ENGLISH CHINESE
  LangString ${NAME} ${LANG_ENGLISH} "${ENGLISH}"
  LangString ${NAME} ${LANG_TRADCHINESE} "${CHINESE}"
!macroend

!insertmacro WORDS THE_PROGRAM "Handraise" "Handraise"
!insertmacro WORDS IN_EXPLORER "“Open in Handraise” in Explorer" "檔案總管的「在 Handraise 中開啟」"
!insertmacro WORDS ITS_DATA "My settings, drafts and logs" "我的設定、草稿與記錄檔"
!insertmacro WORDS OPEN_FOLDER "Open in Handraise" "在 Handraise 中開啟"
!insertmacro WORDS WHAT_IT_IS "A desktop client for Claude Code that asks you" "會主動詢問您的 Claude Code 桌面用戶端"

!insertmacro WORDS ABOUT_PROGRAM "The program, for you alone; no administrator is needed." \
  "程式本身，只為您安裝；不需要系統管理員。"
!insertmacro WORDS ABOUT_EXPLORER "A folder's context menu begins a conversation in it." \
  "從資料夾的右鍵選單，直接在該資料夾開始對話。"
!insertmacro WORDS ABOUT_REMOVAL "The program and its entries in the start menu and Explorer." \
  "程式，以及它在開始功能表與檔案總管中的項目。"
!insertmacro WORDS ABOUT_DATA "Removed for good when ticked: ${DATA}. Claude Code's own files stay." \
  "勾選後將永久刪除：${DATA}。Claude Code 自己的檔案會保留。"

!insertmacro WORDS IT_RUNS \
  "Handraise is running. OK closes it: drafts are kept, what Claude is doing is stopped." \
  "Handraise 正在執行。按「確定」會將它關閉：草稿會保留，Claude 進行中的工作會停止。"
!insertmacro WORDS IT_STAYS \
  "Handraise is still running. Close its window, or end “handraise serve” in its console, and try again." \
  "Handraise 仍在執行。請關閉它的視窗，或在主控台結束「handraise serve」，然後重試。"
!insertmacro WORDS IT_FAILED "Not all files could be written to $INSTDIR. Is there room on the disk?" \
  "無法將所有檔案寫入 $INSTDIR。磁碟空間足夠嗎？"
!insertmacro WORDS NOT_REMOVED "Not all files in $INSTDIR could be removed. Close what uses them, and try again." \
  "無法移除 $INSTDIR 中的所有檔案。請關閉正在使用它們的程式，然後重試。"
!insertmacro WORDS DATA_NOT_REMOVED "Not all files in ${DATA} could be removed." "無法移除 ${DATA} 中的所有檔案。"
!insertmacro WORDS TOO_OLD_WINDOWS "Handraise needs a 64-bit Windows 10 or later." "Handraise 需要 64 位元的 Windows 10 或更新版本。"
!insertmacro WORDS ANOTHER_PROGRAM "The folder $INSTDIR belongs to another program. Choose another one with /D=." \
  "資料夾 $INSTDIR 屬於另一個程式。請以 /D= 指定其他資料夾。"
!insertmacro WORDS NEWER_IS_THERE "Handraise $0 is installed, which is newer than ${VERSION}. Go back to ${VERSION}?" \
  "已安裝的 Handraise $0 比 ${VERSION} 新。要改回 ${VERSION} 嗎？"
