"""What a pack's author uses: check, run its tests, compile it."""
