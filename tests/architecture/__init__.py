"""The house rules, checked: sizes, vocabulary, imports."""
