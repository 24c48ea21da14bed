"""How a schedule becomes a prediction: every order of an open race, what each step changed, and the words for it."""
