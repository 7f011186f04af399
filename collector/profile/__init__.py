"""profile -- what was measured, as plain tables, and the sums people ask of them."""
