"""Writes precedence_table.inc: what Python's own parser makes of each expression in each place.

    python3 tests/unit/make_precedence_table.py > tests/unit/precedence_table.inc

A line is {place, expression, needed}: whether the expression needs parentheses where the place has HOLE. Needed means
that the code without them is another program than the code with them, or none at all. Pairs that are no program
even with parentheses are left out.
"""

import ast
import warnings

warnings.simplefilter("ignore")  # `1 is b` and the like

PLACES = """
HOLE
x = HOLE
x: T = HOLE
x += HOLE
x = y = HOLE
return HOLE
raise HOLE
raise x from HOLE
assert HOLE
assert x, HOLE
if HOLE: pass
while HOLE: pass
for i in HOLE: pass
with HOLE: pass
with HOLE as f: pass
@HOLE<nl>def f(): pass
def f(a=HOLE): pass
def f(a: T = HOLE): pass
class C(HOLE): pass
class C(m=HOLE): pass
match HOLE:<nl> case 1: pass
f(HOLE)
f(HOLE, x)
f(x, HOLE)
f(k=HOLE)
f(*HOLE)
f(**HOLE)
[HOLE]
[HOLE, x]
[x, *HOLE]
{HOLE}
{HOLE: x}
{x: HOLE}
{**HOLE}
(HOLE, x)
(HOLE)
x[HOLE]
x[HOLE:y]
x[y:HOLE]
x[y, HOLE]
HOLE.a
HOLE(x)
HOLE[x]
HOLE + x
x + HOLE
x - HOLE
HOLE * x
x * HOLE
x // HOLE
x @ HOLE
HOLE ** x
x ** HOLE
x << HOLE
HOLE << x
x & HOLE
HOLE & x
x ^ HOLE
HOLE ^ x
x | HOLE
HOLE | x
-HOLE
~HOLE
not HOLE
HOLE and x
x and HOLE
HOLE or x
x or HOLE
HOLE < x
x < HOLE
x in HOLE
x is HOLE
x < HOLE < y
HOLE if x else y
x if HOLE else y
x if y else HOLE
lambda: HOLE
lambda a=HOLE: a
await HOLE
x = yield HOLE
x = yield from HOLE
(y := HOLE)
f(y := HOLE)
[HOLE for x in y]
[x for x in HOLE]
[x for x in y if HOLE]
[x for x in y for z in HOLE]
{HOLE for x in y}
{HOLE: x for x in y}
{x: HOLE for x in y}
f(HOLE for x in y)
x = f"{HOLE}"
""".strip().splitlines()

EXPRESSIONS = """
a
a.b
a(b)
a[b]
1
1.5
0x1f
2j
1_000
's'
's' 't'
f'{a}'
...
None
(a, b)
(a)
[a]
{a}
{}
[a for a in b]
a + b
a - b
a * b
a / b
a // b
a % b
a @ b
a ** b
a << b
a >> b
a & b
a ^ b
a | b
-a
+a
~a
-1
not a
not not a
a and b
a or b
a < b
a == b
a in b
a not in b
a is b
a is not b
a < b < c
a if b else c
lambda: a
lambda a, b=1: a
await a
await a.b()
a := b
yield
yield a
yield from a
""".strip().splitlines()


class Flat(ast.NodeTransformer):
    """(a and b) and c is a and b and c."""

    def visit_BoolOp(self, node):
        self.generic_visit(node)
        first = node.values[0]
        if isinstance(first, ast.BoolOp) and type(first.op) is type(node.op):
            node.values[:1] = first.values
        return node


def program(text):
    try:
        return ast.dump(Flat().visit(ast.parse("async def outer():\n " + text.replace("<nl>", "\n "))))
    except SyntaxError:
        return None


def quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("<nl>", "\\n") + '"'


for place in PLACES:
    for expression in EXPRESSIONS:
        wanted = program(place.replace("HOLE", f"({expression})"))
        if wanted is None:
            continue
        needed = program(place.replace("HOLE", expression)) != wanted
        print(f"{{{quoted(place)}, {quoted(expression)}, {str(needed).lower()}}},")
