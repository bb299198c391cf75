"""Snippets for grammar_oracle.py: every operator, all pairs and triples of them, and each statement with its parts varied."""

import itertools

BINARY = ["+", "-", "*", "/", "//", "%", "@", "**", "<<", ">>", "&", "^", "|"]
COMPARE = ["<", ">=", "==", "!=", "in", "not in", "is", "is not"]
BOOLEAN = ["and", "or"]
UNARY = ["-", "+", "~", "not ", "await "]

# Expressions by kind; what stands in them is a name.
EXPRESSIONS = [
    "a", "a.b", "a[b]", "a(b)", "a()", "a.b(c)", "a[b](c)", "a(b)[c]", "a(b).c", "1", "1.5", "2j", "'s'", "b's'", "'s' 't'",
    "None", "True", "...", "f'{a}'", "f'{a!r:>{b}}'", "f'{a=}'", "f'{a, b}'", "f'{a if b else c}'", "f'{a:{b}{c}}'",
    "-a", "not a", "~a", "await a", "await a.b", "await a(b)", "-a ** b", "a ** -b", "a + b", "a & b ^ c", "a ^ b & c",
    "a < b", "a < b < c", "a not in b", "a is not b", "a and b", "a or b and c", "not a in b", "not a and b",
    "lambda: a", "lambda x: a", "lambda x, *y, z=1, **w: a", "lambda *, x: a", "lambda x, /, y: a", "lambda: (yield)",
    "lambda: a if b else c", "lambda x: lambda y: a", "lambda: not a", "lambda: a or b", "lambda: a, b", "lambda: a < b",
    "a if b else c", "a if b else c if d else e", "a if b if c else d else e", "a or b if c else d or e",
    "not a if b else not c", "lambda: a if b else lambda: c", "a if lambda: b else c", "a if b else lambda: c",
    "(a := b)", "(a := b if c else d)", "(a := lambda: b)", "(a := b or c)", "(a := b, c)", "(a := not b)", "(a := await b)",
    "(a := (b := c))", "(a := b < c)", "(a := *b, c)",
    "(a, b)", "(a,)", "()", "(a)", "((a))", "a, b", "a,", "*a, b", "*a,", "a, *b", "*a.b, c", "*a(b), c", "*a[b], c",
    "*a + b, c", "*a or b, c", "a, *b.c", "a, *b(c)", "a, *b[c]", "a, *b | c", "(*a(b), c)", "(a, *b.c)", "a, *[]", "a, *()",
    "a, *{}", "*[], a", "*[a, b], c", "*'s', a", "*(a), b", "*(a, b), c", "*a,", "*-a, b", "*~a, b", "*await a, b", "*a ** b, c",
    "(*a.b,)", "*a.b,", "*lambda: a, b" ,
    "[]", "[a]", "[a, b]", "[a,]", "[*a]", "[*a, b]", "[*a.b]", "[*a(b)]", "[*a[b]]", "[*a(b)(c)]", "[*a.b.c(d)]", "[*a.b(c).d]",
    "[*a + b]", "[*a | b]", "[*a or b]", "[*a if b else c]", "[*(a)]", "[*[a]]", "[*-a]", "[*a ** b]", "[*await a]", "[*await a(b)]",
    "[*a, *b]", "[*a.b, *c(d)]", "[*a @ b.c(d)]", "[a := b]", "[a := b, c]", "[*not a]", "[*lambda: a]", "[*a < b]", "[*a.b < c]",
    "[*a.b + c]", "[*a(b) + c]", "[*a and b]",
    "{a}", "{a, b}", "{*a}", "{*a.b}", "{*a(b)}", "{*a, b}", "{a := b}", "{*a[b], c}",
    "{}", "{a: b}", "{a: b, c: d}", "{**a}", "{**a.b}", "{**a(b)}", "{a: b, **c}", "{**a or b}", "{**a | b}", "{**a[b], c: d}",
    "{a: lambda: b}", "{a: b if c else d}", "{lambda: a: b}", "{a if b else c: d}", "{**a if b else c}", "{a: (b := c)}", "{not a: b}",
    "[a for b in c]", "[a for b in c if d]", "[a for b in c if d if e]", "[a for b in c for d in e]", "[a async for b in c]",
    "{a for b in c}", "{a: b for c in d}", "(a for b in c)", "[a for b, c in d]", "[a for (b, c) in d]", "[a for b, *c in d]",
    "[a for b.c in d]", "[a for b[c] in d]", "[a for [b, c] in d]", "[a for b, in c]", "[a if b else c for d in e]",
    "[a for b in c if d or e]", "[a for b in c if not d]", "[a for b in c if lambda: d]", "[a for b in c or d]",
    "[a for b in (lambda: c)]", "[a for b in c if (d := e)]", "[(a, b) for c in d]", "[lambda: a for b in c]", "[not a for b in c]",
    "[a for b in lambda: c, d]", "[await a for b in c]", "[[a for b in c] for d in e]", "[a for b in c if d if e for f in g]",
    "[a for b in c if d in e]", "[a for b in c if d else e]", "[a for b in (c if d else e)]", "[a for b in c if (d if e else f)]",
    "{a: b for c, d in e if f}", "{**a for b in c}", "[a := b for c in d]", "[a for b in [c, d]]", "[a for b in *c, d]",
    "[a for b in c if d and e]", "[a for b in c if a < d < e]", "[x async for b in c if await d]", "{a: b if c else d for e in f}",
    "{a if b else c: d for e in f}", "[a for b in c.d(e)]", "[a for b in c if d.e(f)]", "[a for b in c if d, e]", "[a for *b, c in d]",
    "[a for b in c | d]", "[a for b in -c]", "[a for b in await c]", "[a for b in not c]", "[a for not_b in c]",
    "a[b:c]", "a[:]", "a[b:]", "a[:b]", "a[::b]", "a[b:c:d]", "a[b:c, d]", "a[b, c]", "a[b,]", "a[...]", "a[..., b]", "a[*b]",
    "a[*b, c]", "a[*b.c]", "a[*b(c)]", "a[b, *c]", "a[b := c]", "a[b := c, d]", "a[lambda: b]", "a[b if c else d]", "a[b if c else d:e]",
    "a[lambda: b:c]", "a[not b]", "a[-b:]", "a[b + c:d]", "a[:, b]", "a[::]", "a[b::c]", "a[:b:]", "a[(b, c)]", "a[()]", "a[b][c]", "a[b.c:d(e)]",
    "a[b or c:d]", "a[b:c if d else e]", "a[:, None, ::b]", "a[b for c in d]", "a[*b:c]", "a[b:c,]", "a[(b)]", "a[b,c,]", "a[*b,]",
    "f()", "f(a)", "f(a,)", "f(a, b)", "f(k=a)", "f(*a)", "f(**a)", "f(a, *b, k=c, **d)", "f(*a.b)", "f(*a(b))", "f(a, *b.c())",
    "f(*a or b)", "f(*a if b else c)", "f(**a or b)", "f(**a.b())", "f(k=lambda: a)", "f(k=a if b else c)", "f(a for b in c)",
    "f(a := b)", "f(k=(a := b))", "f(a := b, c)", "f(lambda: a, b)", "f(lambda x: a, b)", "f(not a)", "f(*a, *b)", "f(*a, k=b)", "f(k=a, *b)",
    "f(*a.b, **c.d)", "f(*a[b])", "f(*[a])", "f(*(a, b))", "f(*lambda: a)", "f(*a + b)", "f(*await a)", "f(*not a)", "f(*-a)", "f(*a | b)",
    "f((a for b in c), d)", "f(a for b in c if d)", "f(*(a for b in c))", "f(*a for b in c)", "f(*a < b)", "f(*a and b)", "f(*[a for b in c])",
    "f(**{a: b})", "f(k=not a)", "f(*a ** b)", "f(await a)", "f(*a.b.c(d)(e))", "f(*a.b[c].d)", "f(print)", "f(k=a, **b)", "f(match=a)", "f(type=a)",
    "f(case=a)", "f(print=a)", "f(exec=a)", "f(_=a)", "f(*'s')", "f(*f'{a}')", "f(*{a})", "f(*1)", "f(*a, )", "f(*yield_)", "f(k=*a)", "f(*print(a))",
    "f(*a.b(c).d(e))", "f(*a(b).c)", "f(*a(b)[c])", "f(*a[b](c))", "f(*a[b].c)", "f(*(a)(b))", "f(*(a).b)", "f(*(a)[b])", "f(*[a][b])", "f(*'s'.join(a))",
    "f(*f'{a}'.split())", "f(*{a: b}.items())", "f(*{a: b}[c])", "f(*a().b or c)", "f(*a() + b)", "f(*a.b() + c.d())", "f(*a.b() if c else d)",
    "f(*a[b:c], d)", "f(*a.b[c], d)", "f(*[a for b in c][d])", "f(*super().a())", "f(*type(a).b)", "f(*match)", "f(*print.a)", "f(*await a.b())",
    "(yield)", "(yield a)", "(yield a, b)", "(yield from a)", "(yield *a, b)", "(yield *a.b, c)", "(yield *a(b), c)", "(yield a if b else c)", "(yield lambda: a)",
    "(yield not a)", "(yield a or b)", "(yield (a, b))", "(yield from a or b)", "(yield from a if b else c)", "(yield from lambda: a)", "(yield a,)",
    "await a ** b", "await a ** -b", "-await a", "await a + b", "await a.b ** c", "await a(b) ** c", "not await a", "await (a)", "await a[b]",
    "(await a)(b)", "await a(b)(c)", "-await a ** b", "await (a ** b)", "a ** await b", "a ** await b ** c", "await a if b else c", "await a or b",
    "a if await b else c", "await a < b", "await a, b", "await [a]", "await f'{a}'", "await a.b.c(d)[e]", "await -a", "await not a", "await await a",
    "-1 ** 2", "1 ** -1", "- -a", "not not a", "~-a", "-a.b", "-a(b)", "-a[b]", "a - -b", "a if not b else c", "not a == b", "not a or b", "not (a)",
    "not(a)(b)", "not a.b", "not a ** b", "not -a", "a and not b", "a or not b and c", "a == (not b)", "- (a) ** b", "+a ** b ** c", "~a ** b",
    "a == not b", "a + not b", "-not a", "a < b == c", "a < (b < c)", "(a < b) < c", "a in b in c", "a not in b not in c", "a is b is not c", "a is not b is c",
    "a is (not b)", "a is not (b)", "a not   in b", "a is   not b", "a in b and c in d", "a in (b and c)", "a < b and c < d", "not a < b", "not a is b", "a <> b",
    "print", "print(a)", "print(a, b)", "print(*a)", "print(a, *b.c())", "print(a, file=b)", "print(*a, sep=b)", "print(a)(b)", "print(a).b", "print.a", "print[a]",
    "print + a", "print >> a", "print(a) + b", "print (a)", "print((a, b))", "print(a) if b else c", "print(a) or b", "print(a), b", "not print(a)", "print()", "(print(a))",
    "print(a for b in c)", "print('s' % a)", "print('s') or a", "print -a", "print >> a, b", "print and a", "print if a else b", "print is a", "print == a", "print, a", "print (a), b",
    "print (a) + b", "print * a", "print ** a", "print % a", "print in a", "print not in a", "print < a", "print | a", "print @ a", "print (a) . b", "print (a) [b]", "print [a]",
    "print {a}" , "print -1", "print ~a", "print not a",
    "exec", "exec(a)", "exec(a, b)", "exec(a, b, c)", "exec.a", "exec[a]", "exec + a", "exec(a).b", "exec(a) + b", "exec (a)", "exec(a), b", "exec(*a)", "exec(a, *b.c())",
    "exec(compile(a), b)", "exec -a", "exec in a", "exec == a", "exec(a) or b", "exec(a) if b else c", "exec(a)[b]", "exec(a)(b)", "exec('s')", "exec is a", "exec 's' in a",
    "match", "match.a", "match[a]", "match(a)", "match + a", "match(a, b)", "match.a(b)", "match(a).b", "match[a].b", "match[a](b)", "match(a)[b]", "match -a", "match * a", "match in a",
    "match is a", "match(*a)", "match(a, *b.c())", "match, a", "match or a", "match if a else b", "match == a", "match - a", "match not in a", "match (a)", "match [a]", "match(a) + b",
    "case", "case.a", "case(a)", "case[a]", "case + a", "case -a", "type", "type.a", "type(a)", "type[a]", "type(a).b", "type(a)(b)", "type(a)[b]", "type + a", "type(a, b, c)", "type == a", "type is a",
    "type(a) is b", "type(a) == b", "type(a), b", "type in a", "type(a) if b else c", "type or a", "type -a", "type * a", "type(a) + b", "type (a)", "type [a]", "type(*a)", "type(a)(*b)",
    "async_", "_", "_.a", "_(a)", "a._", "a.print", "a.exec", "a.match", "a.type", "a.match(b)", "a.type(b)", "a.print(b)", "print.match.type", "__debug__", "nonlocal_",
    "a if b else c, d", "a, b if c else d", "(a if b else c)(d)", "a if b else c.d", "a if b else c[d]", "a if b else c(d)", "[a if b else c]", "a if (b := c) else d", "a if b else (c, d)",
    "a if b and c else d", "a if not b else c or d", "(a if b else c) if d else e", "a if (b if c else d) else e", "a if b else (c if d else e)", "a < b if c else d", "a if b < c else d",
    "lambda x=1: a", "lambda x=a if b else c: d", "lambda x=lambda: a: b", "lambda *a: b", "lambda **a: b", "lambda a, *b: c", "lambda *a, b: c", "lambda a, /: b", "lambda: [a]", "lambda: {a: b}",
    "lambda: a[b:c]", "lambda: a(b=c)", "(lambda: a)()", "lambda: a()", "lambda a, b=c, *, d, e=f, **g: h", "lambda x: x if x else x", "lambda: await a", "lambda: (a, b)", "lambda x, y=(a := b): c",
    "lambda: (a := b)", "lambda *_, **__: a", "lambda _: a", "lambda match: a", "lambda type: a", "lambda print: a", "lambda exec: a", "[lambda: a, b]", "(lambda: a, b)", "lambda x=not a: b", "lambda:a", "lambda x:a",
    "0xff", "0o17", "0b11", "1_000", "1e5", "1.", ".5", "1_0.0_1e-1_0", "1J", "0", "00", "1 .a", "1.0.a", "1..a", "0xfor x", "1if a else b", "1 if a else 2", "1or a", "[1for a in b]", "0x1for a in b",
    "'a' f'{b}'", "f'{a}' 'b' f'{c}'", "f'{{a}}'", "f'{{{a}}}'", "f'{a}{b}'", "f'{a:b}'", "f'{a:{b}}'", "f'{a!s}'", "f'{a!s:b}'", "f'{a:{b!r}}'", "f'{a[b]}'", "f'{a.b(c)}'", "f'{a[\"b\"]}'", "f'{(lambda: a)}'",
    "f'{a:%Y-%m}'", "f'{a:,}'", "f'{a == b}'", "f'{a != b}'", "f'{a <= b}'", "f'{a!r}' f'{b=}'", "f'{a = }'", "f'{a=!s}'", "f'{a=:b}'", "rf'{a}'", "fr'{a}\\d'", "f'''{a}\n{b}'''", "f'{ a }'", "f'{*a, b}'", "f'{*a.b, c}'",
    "f'{await a}'", "f'{yield_}'", "f'{(yield)}'", "f'{a or b}'", "f'{not a}'", "f'{a if b else c:d}'", "f'{a:{b}.{c}}'", "f'{a:{b:{c}}}'", "f'{[a for b in c]}'", "f'{ {a: b} }'", "f'{a:=^10}'", "f'{a:=}'", "f'{(a:=b)}'", "f'{a:!r}'", "f'{a,}'", "f'{a:\\n}'",
    "f'{a:#x}'", "f'{a!r:^{b}.{c}}'", "f'{a}}}'", "f'{{'", "f'}}'", "f''", "f'{a:}}'", "f'{\"a\"}'", "f'{f\"{a}\"}'", "f\"{a['b']}\"", "f'{a[b:c]}'", "f'{a[::b]}'", "f'{a :b}'", "f'{lambda x: 1}'", "f'{a!r }'", "f'{a! r}'", "u's'", "B's'", "Rb's'", "bR's'", "'''a'''", "'a\\\nb'",
    "f'{a}' f'{b}' 'c'", "f'\\{a}'", "f'\\N{DASH}'", "rf'\\N{a}'", "f'\\N{DASH}{a}'", "'\\N{DASH}'", "f'\\\\{a}'", "f'{a}\\\n{b}'", "f'{a\n}'", "f'''{\na\n}'''", "f'{a # c\n}'", "f'{d[\"k\"]}'", "f'{d['k']}'", "f'{'a'}'",
]

STATEMENTS = [
    "{e}", "x = {e}", "x = y = {e}", "x: T = {e}", "x += {e}", "return {e}", "del {e}", "assert {e}", "assert {e}, m", "raise {e}", "raise x from {e}", "yield {e}", "x = yield {e}",
    "if {e}: pass", "while {e}: pass", "for x in {e}: pass", "with {e}: pass", "with {e} as x: pass", "with ({e}): pass", "with ({e}) as x: pass", "with ({e} as x): pass",
    "with {e} as x, y as z: pass", "with a as b, {e}: pass", "with ({e}, y): pass", "with ({e} as x, y): pass", "async with {e} as x: pass",
    "match {e}:\n    case 1: pass", "match x:\n    case 1 if {e}: pass", "def f(x={e}): pass", "def f(x: {e}): pass", "def f(x: {e} = 1): pass", "def f() -> {e}: pass", "def f(*x: {e}): pass",
    "@{e}\ndef f(): pass", "class C({e}): pass", "class C(k={e}): pass", "x: {e}", "x: {e} = 1", "lambda: {e}", "f({e})", "f({e}, x)", "f(k={e})", "[{e}]", "[{e}, x]", "({e})", "({e}, x)", "{{{e}}}", "{{{e}: x}}", "{{x: {e}}}",
    "a[{e}]", "a[{e}:]", "a[:{e}]", "[{e} for x in y]", "[x for x in {e}]", "[x for x in y if {e}]", "f'{{{e}}}'", "{e} + x", "x + {e}", "{e} ** x", "x ** {e}", "-{e}", "not {e}", "await {e}", "{e} and x", "x and {e}",
    "{e} < x", "x < {e}", "{e}.b", "{e}(b)", "{e}[b]", "{e} if x else y", "x if {e} else y", "x if y else {e}", "x := {e}", "(x := {e})", "*{e},", "[*{e}]", "f(*{e})", "f(**{e})", "{{**{e}}}", "{e}, x", "x, {e}", "x, *{e}", "{e} = x", "for {e} in x: pass",
    "{e} & x", "x & {e}", "{e} ^ x", "x ^ {e}", "{e} | x", "x | {e}", "x = *{e}, y", "return *{e}, y", "for x in *{e}, y: pass", "x = y, *{e}", "return y, *{e}", "except_ = {e}", "try: pass\nexcept {e}: pass", "try: pass\nexcept {e} as x: pass", "try: pass\nexcept* {e}: pass", "type X = {e}",
    "print({e})", "print('s', {e})", "print('s', *{e})", "global x; {e}", "x = {e}; y", "x = {e}  # c", "if x: {e}", "else_ = [{e}]\n", "while x: {e}", "def f(): return {e}", "x[{e}] = 1", "x = [\n  {e},\n]", "x = (\n  {e}\n)", "f(\n  {e}\n)", "lambda x={e}: y", "{e} in x", "x in {e}", "x is not {e}", "{e} is x",
    "{e} += 1", "{e}: int = 1", "with x as {e}: pass", "[y for {e} in x]", "async for x in {e}: pass", "f'{{x:{{{e}}}}}'", "exec({e})", "print({e}, file=x)", "raise {e} from x", "match {e}, x:\n    case 1: pass", "match ({e}):\n    case 1: pass", "match (x, {e}):\n    case _: pass",
    "match [{e}]:\n    case 1: pass\n    case 2: pass", "match -{e}:\n    case _: pass", "match *{e}, x:\n    case _: pass", "def f(*, x: int = {e}, **k): pass",
]

# Whole statements: headers, patterns, definitions, layout.
WHOLE = [
    "x = 1; y = 2", "x = 1;", "if a: b; c", "if a: b\nelif c: d\nelse: e", "if a:\n    b\nelif c:\n    d\nelif e:\n    f\nelse:\n    g", "for a in b: c\nelse: d", "while a: b\nelse: c",
    "try: a\nexcept: b", "try: a\nexcept A: b", "try: a\nexcept A as e: b", "try: a\nexcept (A, B): c", "try: a\nexcept (A, B) as e: c", "try: a\nexcept A: b\nelse: c\nfinally: d", "try: a\nfinally: b",
    "try: a\nexcept* A: b", "try: a\nexcept *A: b", "try: a\nexcept* (A, B): c", "try: a\nexcept *(A, B): c", "try: a\nexcept* A as e: b", "try: a\nexcept *A as e: b", "try: a\nexcept *(A, B) as e: c", "try: a\nexcept* a.b: c", "try: a\nexcept *a(b): c", "try: a\nexcept a.b as c: d", "try: a\nexcept a(b): c", "try: a\nexcept a or b: c", "try: a\nexcept a if b else c: d",
    "try: a\nexcept A, B: c", "try: a\nexcept *A, B: c",
    "with a: b", "with a as b: c", "with a as b, c as d: e", "with a, b: c", "with (a): b", "with (a, b): c", "with (a, b) as c: d", "with (a as b): c", "with (a as b, c as d): e", "with (a as b,): c", "with (a, b,): c", "with (a), (b): c", "with (a) as b: c", "with (a)(b): c", "with (a).b: c", "with (a, b)[0]: c", "with (a) + b: c",
    "with a as b.c: d", "with a as b[c]: d", "with a as (b, c): d", "with a as [b, c]: d", "with a() as b, c() as (d, e): f", "with (yield): a", "with (yield a) as b: c", "with (a if b else c) as d: e", "with a if b else c: d", "with a if b else c as d: e", "with a or b as c: d", "with not a as b: c", "with a < b as c: d", "with lambda: a as b: c", "with a + b as c: d", "with -a as b: c", "with await a as b: c", "with a as b, c if d else e as f: g", "with (a if b else c as d): e", "with (a, b as c): d", "with (a as b, c): d", "with a, b as c: d", "with a.b(c) as d, e: f",
    "with (\n    a as b,\n    c as d,\n): e", "with (a for b in c) as d: e", "with (a := b): c", "with (a := b) as c: d", "with (a := b, c): d", "with (a, *b): c", "with [a, b]: c", "with {a}: b", "with a as b, \\\n  c: d", "with a, (b, c): d", "with (a, b), c: d", "with (a, b), c as d: e", "with a as b, (c, d): e", "with ((a, b)): c", "with ((a, b) as c): d", "with (((a))): b", "with (a,): b", "with (): a", "with ((a), (b)): c", "with (a or b): c", "with (a or b) as c: d", "with (a or b), c: d", "with (a) as b, (c) as d: e", "with (a.b(), c.d()) as e: f",
    "for a, b in c: d", "for a, in b: c", "for (a, b) in c: d", "for [a, b] in c: d", "for a.b in c: d", "for a[b] in c: d", "for *a, b in c: d", "for a, *b in c: d", "for a in b, c: d", "for a in b,: c", "for a in *b, c: d", "for a in *b.c, d: e", "for a in *b(c), d: e", "for a in (b): c", "for a in b if c else d: e", "for a in lambda: b: c", "for a in not b: c", "for a in b or c: d", "for a in b[c]: d", "for (a) in b: c", "for a, (b, c) in d: e", "for a, *b.c in d: e", "for a in b, *c.d: e", "for a in await b: c", "for a in (yield): b", "async for a in b: c", "async for a in b: c\nelse: d", "for a.b, c[d] in e: f", "for a().b in c: d", "for a in [*b.c()]: d", "for print in a: b", "for match in a: b", "for type in a: b", "for _ in a: b",
    "def f(): pass", "def f(a): pass", "def f(a, b=1): pass", "def f(*a, **b): pass", "def f(a, *, b): pass", "def f(a, /, b): pass", "def f(a, /, b, *, c): pass", "def f(a, b=1, /, c=2, *d, e, f=3, **g): pass", "def f(a: int, b: str = 's', *c: int, d: int, **e: str) -> None: pass", "def f(*a: *b): pass", "def f(*a: *tuple[b, ...]): pass", "def f(*a: *b.c): pass", "def f(a: *b): pass", "async def f(): pass", "async def f(a): await a", "def f(a,): pass", "def f(\n    a,\n    b,\n): pass", "def f(*, a, b=1): pass", "def f(a=1, /): pass", "def f(a: int = 1, *, b: int = 2): pass", "def print(): pass", "def match(): pass", "def type(): pass", "def exec(): pass", "def f(print): pass", "def f(match, type, case, exec): pass", "def f(match=1, type=2): pass", "def f(print: int = 1): pass", "def f(match: int): pass", "def f(*print, **match): pass", "def f(a: lambda: b = c): pass", "def f(a: b if c else d = e): pass", "def f() -> a if b else c: pass", "def f() -> (a, b): pass", "def f() -> a | b: pass", "def f() -> a[b]: pass", "def f() -> 'a': pass", "def f() -> lambda: a: pass", "def f() -> a or b: pass", "def f() -> not a: pass", "def f() -> a.b[c, d] | None: pass", "def f() -> a, b: pass", "def f(a: b[c:d]): pass", "def f(a: b[c:d, e]): pass", "def f(a: b[:]): pass", "def f(a: b[c, :] = 1): pass", "def f() -> a[b:c]: pass",
    "def f[T](): pass", "def f[T: int](): pass", "def f[T: (int, str)](): pass", "def f[*T](): pass", "def f[**P](): pass", "def f[T, *U, **P](): pass", "def f[T = int](): pass", "def f[T: int = str](): pass", "def f[*T = *a](): pass", "def f[**P = [int]](): pass", "def f[T,](): pass", "class C[T]: pass", "class C[T](B): pass", "class C[T: int]: pass", "class C[T = int]: pass", "class C[T: a.b]: pass", "class C[T: a[b]]: pass", "class C[T: a | b]: pass", "class C[T: a if b else c]: pass", "class C[T: a.b = c.d]: pass", "def f[T: lambda: a](): pass", "def f[T: 'a'](): pass", "def f[T: (a)](): pass", "def f[T: a or b](): pass", "def f[T: a < b](): pass",
    "type X = int", "type X[T] = list[T]", "type X[T: int] = T", "type X[*T] = T", "type X[**P] = P", "type X = a | b", "type X = a.b", "type X = a if b else c", "type X = lambda: a", "type X = (a, b)", "type X[T = int] = T", "type X[T, U] = dict[T, U]", "type X = 'a'", "type X = a or b", "type X = a[b:c]", "type type = int", "type match = int", "type _ = int", "type X = not a", "type X = a < b", "type X = (yield)", "type print = int", "type X = a(b)", "type X = [a, b]", "type X = a[b][c]", "type X = a[b].c", "type X = a[*b]", "type X = await a",
    "type = 1", "type: int = 1", "type += 1", "type.a = 1", "type[a] = 1", "type(a).b = 1", "type(a)[b] = 1", "type(a).b.c = 1", "type(a).b += 1", "type(a).b: int = 1", "type (a).b = 1", "type(a).b = c = 1", "type, a = 1", "(type) = 1", "type(a)(b).c = d", "type[a].b = 1", "type(a, b).c = d", "type[a][b] = 1", "type = a = 1", "a = type = 1", "a = type(b).c = d", "type(self).x = 1", "type(self)._x[y] = 1", "type(self).x, y = 1, 2", "type -a = 1", "del type(a).b", "type(a).b()", "type(a).b.c(d)", "type(a).b == c", "type(a)[b]()", "type(self).x: T",
    "match = 1", "match: int = 1", "match += 1", "match.a = 1", "match[a] = 1", "match(a).b = 1", "match(a)[b] = 1", "match, a = 1", "match = a = 1", "match[a]: int", "match[a]: b", "match(a): b", "match[a]: b = 1", "match.a: b = 1", "match[a].b: c = 1", "match[a, b]: c", "match[a, b]: c = 1", "(match)[a]: b", "match[a:b] = c", "match(a, b).c = d", "match[a][b] = c", "match * a", "match = lambda a: b", "match: a", "match.a: b",
    "match a:\n    case b: pass", "match a, b:\n    case c: pass", "match a,:\n    case b: pass", "match (a):\n    case b: pass", "match (a, b):\n    case c: pass", "match [a]:\n    case b: pass", "match [a, b]:\n    case c: pass", "match [a, b]:\n    case c: pass\n    case d: pass", "match [a, b]:\n    case [c, d]: pass", "match [a, b]:\n    case [c, d]: pass\n    case _: pass", "match []:\n    case []: pass", "match [a]:\n    case [b]: pass", "match {a: b}:\n    case {'c': d}: pass", "match {}:\n    case {}: pass", "match -a:\n    case -1: pass", "match not a:\n    case True: pass", "match *a, b:\n    case c: pass", "match *a.b, c:\n    case d: pass", "match a.b:\n    case c: pass", "match a(b):\n    case c: pass", "match a[b]:\n    case c: pass", "match (a)(b):\n    case c: pass", "match (a).b:\n    case c: pass", "match [a][b]:\n    case c: pass", "match (a, b)[c]:\n    case d: pass", "match [a, b][c]:\n    case d: pass", "match 's':\n    case 't': pass", "match f'{a}':\n    case 't': pass", "match await a:\n    case b: pass", "match (yield a):\n    case b: pass", "match lambda: a:\n    case b: pass", "match a if b else c:\n    case d: pass", "match a := b:\n    case c: pass", "match (a := b):\n    case c: pass", "match match:\n    case case: pass", "match ...:\n    case a: pass", "match ~a:\n    case b: pass", "match a < b:\n    case c: pass", "match a or b:\n    case c: pass", "match print:\n    case a: pass", "match type(a):\n    case b: pass", "match a + b:\n    case c: pass", "match [a].b:\n    case c: pass", "match [a]():\n    case c: pass", "match [a] + b:\n    case c: pass", "match (a) + b:\n    case c: pass", "match {a}:\n    case b: pass", "match (a) :\n    case b: pass", "match [a] :\n    case b: pass", "match [*a]:\n    case b: pass", "match [*a.b]:\n    case c: pass", "match [a for b in c]:\n    case d: pass", "match (a for b in c):\n    case d: pass", "match {a for b in c}:\n    case d: pass", "match [a, b], c:\n    case d: pass", "match (a), b:\n    case c: pass", "match [a:b]:\n    case c: pass", "match [a, b]:\n    case c if d: pass", "match [a]:\n\n    # c\n    case b:\n        pass\n", "match (x):\n    case [a, b]: pass", "match (x):\n    case (a, b): pass\n    case a: pass", "match x,:\n    case a,: pass", "match x, y:\n    case a, b: pass", "match [x, y]:\n    case a, b: pass", "match [x, y]:\n    case (a, b): pass", "match [x, y]:\n    case [a, b] if a: pass", "match [x, y]:\n    case [1, 2]: pass", "match [x, y]:\n    case [1, 2]: a = 1", "match [x, y]:\n    case [1, 2]:\n        a = 1", "match (x, y):\n    case [1, 2]:\n        a = 1", "match x:\n    case [1, 2]:\n        a = 1\n", "match x[y]:\n    case [1, 2]:\n        a = 1\n", "match [x, y]:\n    case A(b): pass", "match [x, y]:\n    case {}: pass", "match [x, y]:\n    case 1: pass", "match [x, y]:\n    case a.b: pass", "match [x, y]:\n    case _: pass", "match [x, y]:\n    case a | b: pass", "match [x, y]:\n    case a as b: pass", "match [x, y]:\n    case (1): pass", "match [x]:\n    case ([a]): pass\nelse_", "match(x):\n    case y: pass", "match(x, y):\n    case z: pass", "match[x]:\n    case y: pass", "match[x, y]:\n    case z: pass", "match(x)[y]:\n    case z: pass", "match -x:\n    case z: pass", "match -x:\n    case [z]: pass", "match(x):\n    case [y]: pass", "match(x):\n    case [y]: pass\n    case z: pass", "match [x]:\n    case [y]: pass\n    case [z]: pass", "match x:\n    case y: pass\n    case _: pass\nz",
    "try:\n    match [a, b]:\n        case [c, d]:\n            pass\nexcept E: pass", "def f():\n    match [a, b]:\n        case [c]:\n            return 1\n    return 2", "if a:\n    type(self).x = 1\n", "def f(self):\n    type(self).x = 1\n    return 2", "class C:\n    type: int = 1\n    match: str\n    print = 2",
    "@a\ndef f(): pass", "@a.b\ndef f(): pass", "@a(b)\ndef f(): pass", "@a.b(c)\nclass C: pass", "@a\n@b\ndef f(): pass", "@a[b]\ndef f(): pass", "@(a)\ndef f(): pass", "@a or b\ndef f(): pass", "@lambda f: f\ndef g(): pass", "@a := b\ndef f(): pass", "@a if b else c\ndef f(): pass", "@a\nasync def f(): pass", "@a, b\ndef f(): pass", "@(yield)\ndef f(): pass", "@not a\ndef f(): pass", "@await a\ndef f(): pass", "@print\ndef f(): pass", "@a\n\n# c\ndef f(): pass", "@a # c\ndef f(): pass", "@a(b)(c)\ndef f(): pass",
    "class C: pass", "class C(): pass", "class C(B): pass", "class C(A, B, metaclass=M): pass", "class C(*a): pass", "class C(**a): pass", "class C(*a.b): pass", "class C(*a(b)): pass", "class C(a.b): pass", "class C(a(b)): pass", "class C(a[b]): pass", "class C(a if b else c): pass", "class C(lambda: a): pass", "class C(a for b in c): pass", "class print: pass", "class match: pass", "class C: a = 1; b = 2", "class C:\n    'doc'\n    x: int\n    def f(self): pass", "class C(A,): pass", "class C(a := b): pass", "class C(*a[b], c=d): pass", "class type: pass",
    "import a", "import a.b", "import a as b", "import a.b as c", "import a, b", "import a as b, c.d as e", "from a import b", "from a import b as c", "from a import b, c", "from a import (b, c)", "from a import (b as c, d,)", "from a import *", "from . import a", "from .a import b", "from .. import a", "from ..a.b import c", "from ... import a", "from .... import a", "from .a.b import (\n    c,\n    d as e,\n)", "from __future__ import annotations", "from __future__ import a, b", "from __future__ import (a, b)", "from . import *", "from .a import *", "import print", "import match", "from match import type", "from a import match, type, print, exec", "import a.match.b", "from a import _", "from . a import b", "from .  import a", "from __future__ import a as b", "from __future__ import *", "import type as match",
    "global a", "global a, b", "nonlocal a", "nonlocal a, b", "global print", "global match, type", "pass", "break", "continue", "return", "raise", "raise a", "raise a from b", "raise a(b) from None", "raise a, b", "raise a if b else c", "raise a from b if c else d", "raise lambda: a", "raise not a", "raise *a, b", "raise (a, b)", "raise a from (b, c)",
    "del a", "del a, b", "del (a, b)", "del a.b", "del a[b]", "del a[b:c]", "del (a)", "del a,", "del [a, b]", "del a.b, c[d]", "del a[b], c", "del ()", "del (a), b", "del a().b", "del print", "del match", "del type", "del type(a).b", "del match[a]", "del a[*b]", "del (a, b), c", "del (a,)", "del (a).b", "del (a)[b]", "del a(b).c, d",
    "assert a", "assert a, b", "assert (a, b)", "assert a if b else c", "assert a, b if c else d", "assert not a", "assert not a, b", "assert lambda: a, b", "assert a in b, c", "assert (a)", "assert a, (b, c)", "assert (a), b", "assert *a, b", "assert a == b, f'{c}'",
    "a = b", "a = b = c", "a, b = c", "(a, b) = c", "[a, b] = c", "a, *b = c", "*a, b = c", "*a, = b", "a.b = c", "a[b] = c", "a.b, c[d] = e", "a, (b, c) = d", "a, [b, c] = d", "(a) = b", "(a).b = c", "(a)[b] = c", "a().b = c", "a = *b, c", "a = b, *c", "a = *b.c, d", "a = *b(c), d", "a = *b,", "a = *b.c,", "a = *b(c),", "a = b,", "a = yield", "a = yield b", "a = yield from b", "a = yield b, c", "a = await b", "a = b if c else d", "a = lambda: b", "a = lambda: b, c", "a = not b", "a = b or c", "a = b = *c, d", "*a.b, c = d", "*a[b], c = d", "a, *b.c = d", "(*a, b) = c", "[*a, b] = c", "[*a.b, c] = d", "() = a", "[] = a", "a, b = c, d = e", "a = b, c = d", "a = (b, c) = d", "a[b:c] = d", "a[b:c, d] = e", "a[b, c] = d", "a[:] = b", "a[b] = c[d] = e", "a = b; c = d", "a = (yield)", "a = b == c", "a = b < c", "(a, b), c = d", "((a)) = b", "(a), b = c", "(a, (b)) = c", "*(a), b = c", "*(a, b), c = d", "*[a, b], c = d", "a = [] = b", "a = b.c = d[e] = f", "a, = b", "a.b, = c", "(a,) = b", "[a] = b", "(a.b, c) = d", "print = a", "print, a = b", "print.a = b", "print[a] = b", "print(a).b = c", "exec = a", "exec.a = b", "exec[a] = b", "exec(a).b = c", "_ = a", "_, a = b", "case = a", "case.a = b", "case[a] = b", "case(a).b = c", "match, type = a", "a = print = b", "async_ = a",
    "a += b", "a.b += c", "a[b] += c", "a += b, c", "a += *b, c", "a += *b.c, d", "a += yield", "a += yield b", "a += b if c else d", "a += lambda: b", "a -= b", "a *= b", "a /= b", "a //= b", "a %= b", "a **= b", "a @= b", "a &= b", "a |= b", "a ^= b", "a <<= b", "a >>= b", "(a) += b", "a += not b", "a += await b", "(a).b += c", "a().b += c", "a[b:c] += d", "a[b, c] += d", "print += a", "match += a", "type += a", "match.a += b", "match[a] += b", "type.a += b", "type[a] += b", "type(a).b += c", "print.a += b", "a += b, *c",
    "a: b", "a: b = c", "a.b: c", "a.b: c = d", "a[b]: c", "a[b]: c = d", "(a): b", "(a): b = c", "(a).b: c", "a: b[c]", "a: b[c, d]", "a: b[c] = d", "a: b | c", "a: b | None = c", "a: 'b'", "a: b.c", "a: b.c[d]", "a: b.c[d] = e", "a: b[c].d", "a: b[c][d]", "a: b(c)", "a: (b, c)", "a: lambda: b", "a: lambda: b = c", "a: b if c else d", "a: b if c else d = e", "a: not b", "a: b or c", "a: [b]", "a: None", "a: ...", "a: b = yield", "a: b = *c, d", "a: b = c, d", "a: b = c, *d", "a: b = c, *d.e", "a: b[c:d]", "a: b[c:d] = e", "a: b[:]", "a: b[::c]", "a: b[c:]", "a: b[..., c]", "a: b[c, ...]", "a: b[()]", "a: b[[c, d], e]", "a: b[*c]", "a: b[c, *d]", "a: b[*c, d]", "a: b['c']", "a: b[c | d]", "a: b[c.d]", "a: b[c.d, e]", "a: b[c(d)]", "a: b[c, d(e)]", "a: b[1]", "a: b[-1]", "a: b[c,]", "a: b[(c, d)]", "a: b[lambda: c]", "a: b[c if d else e]", "a: b[not c]", "a: b[c or d]", "a: b[c[d]]", "a: b[c[d], e]", "a: b[c][d] = e", "a: b.c | d", "a: b | c | d", "a: b[c] | d", "a: 'b' | c", "a: (b)", "a: (b | c)[d]", "a: b & c", "a: b + c", "a: -b", "a: b < c", "a: b @ c", "a: await b", "a: (yield)", "a: b[c := d]", "a: {b: c}", "a: {b}", "a: 1", "a: f'{b}'", "a: b[c: d]", "a: b[c.d[e]]", "a: b[f'c']", "a: b[{c: d}]", "a: b[[c]]", "a: b[c, d][e]", "a: b.c.d", "a: b.c.d[e, f]", "a: b[c].d[e]", "a: b(c)[d]", "a: b(c).d", "a: b() | c", "a: b[c]()", "a: b[c]().d", "a: print", "a: match", "a: type", "a: type[b]", "a: match[b]", "a: exec", "a: b[type[c]]", "a: b[c]|d[e]", "a: b[c] | None = d", "a: b[c, d] = e", "a: (b) | c", "a: b | (c)", "a: b | [c]", "a: b | 'c'", "a: b | c.d", "a: b | c[d]", "a: b | c[d] = e", "a: b | c.d[e]", "a: b.c[d] | e", "a: None | b", "a: b | None", "a: b[c] | d | e", "a: b ^ c", "a: b | c ^ d", "a: b | c & d", "a: b | c + d", "a: b | -c", "a: b | c(d)", "a: b(c) | d", "a: b | c and d", "a: b | c if d else e", "a: b | c == d", "a: *b", "a: *b, c", "a: b, c",
    "print 'a'", "print a", "print a, b", "print a.b", "print >>a, b", "exec a", "exec a in b", "exec 'a'", "exec 'a' in b, c", "print", "print;", "print # c", "if a: print", "if a: print(b)", "print(a); b", "print (a) ; b", "print(\n a,\n *b.c(),\n)", "print(a)\nb", "print (a)\nb", "print (a), (b)", "print (a) if b else (c)", "print (a).b", "print (a)[b]", "print (a) (b)", "print -1", "print(-1)", "print [a]", "print {a: b}", "print not a", "print lambda: a", "print *a", "print ~a", "print 's' % a", "print('s' % a)", "print ('s') % a", "print ('s') % (a)", "print ('s' % a), b", "exec (a)", "exec (a) in b", "exec(a) in b", "exec (a), b", "exec (a, b)", "exec [a]", "exec -a",
    "case a: b", "case: int", "case(a): b", "case[a]: b", "case, a = b", "match\n", "match;", "type\n", "type;", "type X", "type X Y", "match a", "match a\n", "match(a)\ncase(b)", "match a:\n    pass", "match(a):\n    pass", "match[a]: b\n", "type[a]: b",
    "async def f():\n    async with a as b: pass\n    async for c in d: pass\n    return [e async for e in f]", "async def f():\n    x = await a\n    await b\n    return await c", "async def f():\n    yield a\n    x = yield b", "async def f():\n    await a, b", "async def f():\n    return await a ** 2", "async def f():\n    x = [await a for b in c]\n    y = (await d async for e in f)",
    "await a = b", "async a", "await = a", "async = a", "async with (a, b): c", "async with (a as b): c", "async with (a as b, c as d): e", "async with a if b else c as d: e",
    "if a:\n    b\n\n# c\nelse:\n    d", "if a:\n    b\n  # c\nelse:\n    d", "if a:  # c\n    b", "if a:\n  # c\n  b\n# d\nc", "def f():\n    a\n\n    b\n\n\nc", "if a:\n\tb\n\tc", "if a:\n        b\n\tc", "if a:\n\tif b:\n\t        c\n", "if a:\n    b\n    \\\n    c", "if a:\n    b = (c\n  + d)\n    e", "if a:\n    if b:\n        c(\n d\n)\n        e\n    f", "if a:\n    if b:\n        c = [\n  1,\n]\n    else:\n        d\n", "def f():\n    if a:\n        b = '''\nx\n'''\n        c\n    d", "if a:\n    b(\nc)\n    d", "if a:\n    b = (\nc\n)\n    d\ne", "def f():\n    return (\n a\n  and b\n)\n\ng()", "if a:\n    x = {\n'a': 1,\n}\n    y", "class C:\n    def f(self):\n        x = (\n  1\n  )\n        return x\n    def g(self):\n        pass", "if a:\n    x(  # c\n1)\n    y", "if a:\n    f(\n# c\n1)\n    y", "if a:\n    f(1,\n# c\n)\n    y", "if a:\n    f(\n  lambda: a,\n  b)\n    y", "if a:\n    x = f'{\nb}'\n    y", "if a:\n    x = f'''{\nb}'''\n    y", "if a:\n    with (\n b as c,\n d as e\n ):\n        f\n    g", "if a:\n    from b import (\n c,\n d\n)\n    e", "if a:\n    def f(\n b,\n c\n):\n        d\n    e", "if a:\n    class C(\n B\n):\n        d\n    e", "if a:\n    x[\n1\n] = 2\n    y", "if a:\n    assert (\n b\n)\n    y", "if a:\n    for b in (\n c\n):\n        d\n    e", "if a:\n    @b(\n c\n)\n    def f(): pass\n    e", "if a:\n    x = [\n b for\n c in\n d\n]\n    y", "if a:\n    x = [b\n for c in d\n if e]\n    y", "if a:\n    x = (b\n if c\n else d)\n    y", "if a:\n    x = f(b)(\n c)\n    y", "if a:\n    x = (not\n b)\n    y", "if a:\n    return_((yield\n b))\n    y", "if a:\n    x = (\n b.\n c\n)\n    y", "if a:\n    x = (\n b\n.c\n)\n    y", "if a:\n    x = (\n b\n,c\n)\n    y", "if a:\n    x = (\n'b'\n'c'\n)\n    y", "if a:\n    x = {\n**b\n}\n    y", "if a:\n    f(\n*b\n)\n    y", "if a:\n    f(\nk=b\n)\n    y", "if a:\n    x = (b,\n)\n    y", "if a:\n    x = b[\nc:\nd]\n    y", "if a:\n    if b:\n        x = (c\n    )\n    y", "if a:\n  if b:\n    x = [\n   c]\n  y", "if a:\n    x = (\n    b\n)\nelse:\n    y",
    "\ufeffx = 1", "x = 1 \\\n  + 2", "x = (1 # c\n + 2)", "x = 'é'", "é = 1", "x = 1\n\n\n", "", "\n", "# c", "# c\nx", "x\n# c", "\x0cx = 1", "if a:\n    b\n\x0c\n    c", "x = \\\n1", "if a: \\\n    b", "if a \\\n    and b: c", "def f(): \\\n    return 1", "x = [a, \\\n b]", "x; \\\ny", "with a, \\\n b: c", "assert a, \\\n b", "from a import b, \\\n c", "return_ \\\n . a", "x = a if b \\\n else c", "x = not \\\n a", "x = a is \\\n not b", "x = a not \\\n in b", "if a:\n    pass\n\\\nb",
]

PATTERNS = [
    "1", "-1", "1.5", "-1.5", "1+2j", "-1-2j", "1 + 2j", "'s'", "'s' 't'", "b's'", "None", "True", "False", "a", "_", "a.b", "a.b.c", "(a)", "(1)", "()", "(a,)", "(a, b)", "[]", "[a]", "[a,]", "[a, b]", "[a, *b]", "[*_]", "[*a]", "[*a, b]", "(*a,)", "(a, *_)", "*a, b", "a, *b", "a,", "a, b", "*a,", "*_,",
    "a | b", "1 | 2", "1 | -1", "-1 | 1", "1 | 2 | 3", "(1 | 2)", "[1 | 2]", "None | True", "a.b | c.d", "'s' | 't'", "A() | B()", "[a] | [b]", "(1 | 2) as x", "1 | 2 as x", "a as b", "1 as x", "[a] as b", "A() as b", "(a as b)", "[a as b]", "[a as b, c]", "(a as b), c", "a as b, c", "None as x", "a.b as c", "'s' as x", "-1 as x", "{} as x",
    "A()", "A(a)", "A(a, b)", "A(a,)", "A(k=a)", "A(a, k=b)", "A(k=a, m=b)", "A(k=1)", "A(k=-1)", "A(k=None)", "A(k=a.b)", "A(k='s')", "A(k=[a])", "A(k=B())", "A(k=a | b)", "A(k=a as b)", "A(k=(a))", "A(k={})", "A(k=_)", "A(_)", "A(1)", "A(-1)", "A(1 | 2)", "A(a as b)", "A([a])", "A((a, b))", "A(B(a))", "a.B()", "a.B(c)", "a.B(c=d)", "A(k=B(c), m=[d])", "A('s')", "A(None)", "A(a.b)", "A(k=1+2j)", "A(1+2j)", "A(k=(a, b))", "A(k=1 | 2)", "A(k=True)", "A(k=a,)", "A(k=*a)", "A(*a)",
    "{}", "{'a': b}", "{'a': 1}", "{1: a}", "{-1: a}", "{a.b: c}", "{None: a}", "{'a': b, 'c': d}", "{'a': b, **c}", "{**a}", "{'a': {'b': c}}", "{'a': [b]}", "{'a': b,}", "{'a': b | c}", "{'a': b as c}", "{'a': A(b)}", "{'a': _}", "{'a': -1}", "{1+2j: a}", "{'a' 'b': c}", "{'a': (b)}", "{**_}", "{True: a}", "{'a': a.b}", "{**a,}", "{'a': 's', **b}",
    "[[a, b], c]", "((a, b), c)", "[(a), b]", "[A(b), {'c': d}, *e]", "f'{a}'", "-a", "1 + 2", "a + b", "a()", "a.b()", "print", "match", "type", "case", "match()", "type()", "print()", "match.a", "type.a", "[match, type]", "A(match=a)", "A(type=a)", "*a", "a | b, c", "1 | 2, 3", "-1, 1", "-1 | -2", "[-1]", "[-1, 1]", "(-1)", "[-1 | 1]", "{'a': -1 | 1}", "-1 as a, b", "[1, -1 as a]", "a | b as c", "((a) | b) as c", "[*a] | b", "'a' | 'b' 'c'", "1.5 | -1.5", "1j", "-1j", "-1j | 1", "1+2j | 3", "3 | 1+2j", "0x1", "1_0", "[1+2j]", "(1+2j)", "(1+2j,)", "1+2j, 3", "A(-1, k=-2)", "None | 1", "A | B", "A | B()", "A() | B", "True | False | None", "a | (b | c)", "a | (b as c)",
]


def pairs():
    """Every operator beside every other, three operands, and beside the unary ones."""
    operators = BINARY + COMPARE + BOOLEAN
    for one, two in itertools.product(operators, repeat=2):
        yield f"x = a {one} b {two} c"
    for one, two, three in itertools.product(["+", "*", "**", "<<", "&", "^", "|", "<", "and", "or"], repeat=3):
        yield f"x = a {one} b {two} c {three} d"
    for unary, one in itertools.product(UNARY, operators):
        yield f"x = {unary}a {one} b"
        yield f"x = a {one} {unary}b"
        yield f"x = {unary}a {one} {unary}b {one} c"
    for one, two in itertools.product(operators, repeat=2):
        yield f"x = a {one} await b {two} c"
        yield f"x = a {one} -b {two} c"
        yield f"x = a {one} (b) {two} c"
    for one in operators:
        yield f"x = a {one} b if c {one} d else e {one} f"
        yield f"x = lambda: a {one} b"
        yield f"x = [*a {one} b]"
        yield f"x = *a {one} b, c"
        yield f"x = [*a.b {one} c.d(e)]"
        yield f"f(*a {one} b)"
        yield f"(x := a {one} b)"
        yield f"with a {one} b as c: pass"
        yield f"x: a {one} b = c"
        yield f"x = a {one} lambda: b"
        yield f"for x in a {one} b: pass"


def snippets():
    """Each snippet once."""
    seen = set()

    def whole():
        yield from pairs()
        for statement, expression in itertools.product(STATEMENTS, EXPRESSIONS):
            yield statement.format(e=expression)
        yield from WHOLE
        for text in WHOLE:
            yield "if q:\n" + "".join("    " + line if line.strip() else line for line in text.splitlines(keepends=True))
        for pattern in PATTERNS:
            yield f"match x:\n    case {pattern}: pass"
            yield f"match x:\n    case {pattern} if y: pass\n    case _: pass"
            yield f"match [x]:\n    case {pattern}:\n        pass"
            yield f"match x, y:\n    case [{pattern}]: pass"
        subjects = ["[x]", "[x, y]", "(x)", "(x, y)", "-x", "[x].y", "(x).y", "*x, y", "[]", "x[y]", "(x)[y]"]
        bodies = ["a", "a = 1", "f(a)", "a: int = 1", "a.b = 1", "\n        a = 1\n        b", "a, b = 1, 2", "return a"]
        for subject, pattern, body in itertools.product(subjects, PATTERNS, bodies):
            yield f"match {subject}:\n    case {pattern}: {body}"

    for text in whole():
        text += "\n"
        if text not in seen:
            seen.add(text)
            yield text
