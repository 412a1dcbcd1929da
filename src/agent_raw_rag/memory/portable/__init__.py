"""Taking a space elsewhere: export and import as JSON lines, backup and restore of whole stores."""
