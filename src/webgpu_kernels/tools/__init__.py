"""What authors do with packages: describe calls, lint, pack, test, measure, compare, publish. Nothing here prints."""
