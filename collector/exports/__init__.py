"""exports -- a profile for other programs: one file a format."""
