"""The main job in half a minute: a small site on loopback that changes while recrawl follows it."""
