"""Who made a change and who took it out: the commits behind what the judge found."""
