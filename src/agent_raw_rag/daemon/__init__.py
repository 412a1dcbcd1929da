"""The watching host: events of the agents' folders -> what is new is read at once, and embedded when there is time."""
