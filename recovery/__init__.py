"""Recovery: what crashed, what is left, and how to go on. Needs nothing of the rooms above base."""
