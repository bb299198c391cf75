"""What the schema and docs/rules.md speak of, and the loader of this version does not take yet. THE ONE PLACE: a branch
that teaches the loader one of these removes its line here. A case that meets one of these errors is listed as pending,
not run; once the loader takes it, it runs by itself, and the line that is left over here fails the schema test.

{what: (the words by which the loader refuses it, a rule or patch that shows it)}
"""

import re


LATER = {}


def pending(error):
    """The name of what this error of the loader is about, if it is one of the above."""
    return next((name for name, (words, _) in LATER.items() if re.search(words, error)), None)
