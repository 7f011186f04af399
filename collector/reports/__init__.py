"""reports -- a profile as text: one file a view, and none knows another."""
