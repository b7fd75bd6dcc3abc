"""Learning networks: their tables from complete and incomplete cases; structure has files of its own."""
