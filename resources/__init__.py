"""Files that are shipped with the program: icons, translations, the demo scenario."""
