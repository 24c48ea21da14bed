"""What a catalogue entry is: a scenario or an examination, its questions, and the rows and releases it is for."""
