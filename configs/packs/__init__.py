"""Domain packs: a business as a folder of data."""
