"""Holds our trees against Python's own `ast`: where the two read different code, suture must not edit.

    grammar_oracle.py DUMP_TREE [PATH...]      files, and folders with all their .py files
    grammar_oracle.py DUMP_TREE --generated    a corpus of all operators, pairs of precedences and statements

Both trees are brought to one form of nested tuples. Each kind of difference is reported once, with a count and an example.
Standard library only.
"""

import ast
import collections
import pathlib
import subprocess
import sys
import tempfile
import unicodedata
import warnings

import grammar_corpus

sys.setrecursionlimit(20000)
warnings.simplefilter("ignore")


class Node:
    __slots__ = ("kind", "field", "begin", "end", "named", "flag", "children", "all")

    def __init__(self, kind, field, begin, end, flag):
        self.kind, self.field, self.begin, self.end = kind, field, begin, end
        self.named, self.flag, self.children, self.all = flag in "n?", flag, [], []

    def get(self, field):
        return next((c for c in self.all if c.field == field), None)

    def gets(self, field):
        return [c for c in self.all if c.field == field]

    def has(self, token):
        return any(not c.named and c.kind == token for c in self.all)


class Odd(Exception):
    """A node where the converter knows no such node: a disagreement of its own kind."""


def canon(name):
    return unicodedata.normalize("NFKC", name)


# --- our tree ---------------------------------------------------------------------------------------------------------


class Ours:
    def __init__(self, source):
        self.source = source

    def text(self, node):
        return self.source[node.begin : node.end].decode("utf-8", "replace")

    def suite(self, node):
        return tuple(s for c in node.children for s in [self.stmt(c)] if s is not None)

    def stmt(self, node):
        method = getattr(self, "s_" + node.kind, None)
        if method is None:
            raise Odd(f"statement {node.kind}")
        return ("stmt", node.begin, method(node))

    def exprs(self, nodes):
        """Elements of a bare list: a tuple, or the one expression."""
        return self.expr(nodes[0]) if len(nodes) == 1 else ("Tuple", tuple(self.expr(n) for n in nodes))

    def bare(self, node):
        """The expressions of a node that may be a tuple without a node of its own; a trailing comma makes one."""
        items = [c for c in node.children]
        if len(items) == 1 and not self.comma_after(items[0], node.end):
            return self.expr(items[0])
        return ("Tuple", tuple(self.expr(n) for n in items))

    def comma_after(self, item, end):
        rest = self.source[item.end : end]
        return b"," in rest

    # statements
    def s_module(self, node):
        return self.suite(node)

    def s_expression_statement(self, node):
        first = node.children[0]
        if first.kind in ("assignment", "augmented_assignment") and len(node.children) == 1:
            return self.assignment(first)
        return ("Expr", self.bare(node))

    def assignment(self, node):
        if node.kind == "augmented_assignment":
            return ("AugAssign", self.expr(node.get("left")), self.text(node.get("operator")), self.expr(node.get("right")))
        kind = node.get("type")
        if kind is not None:
            right = node.get("right")
            left = node.get("left")
            return ("AnnAssign", self.expr(left), self.expr(kind), right and self.expr(right))
        targets = []
        while node.kind == "assignment":
            if node.get("type") is not None:
                raise Odd("annotated assignment in a chain")
            targets.append(self.expr(node.get("left")))
            node = node.get("right")
        if node.kind == "augmented_assignment":
            raise Odd("augmented assignment in a chain")
        return ("Assign", tuple(targets), self.expr(node))

    def s_return_statement(self, node):
        return ("Return", self.exprs(node.children) if node.children else None)

    def s_delete_statement(self, node):
        items = node.children
        if len(items) == 1 and items[0].kind == "expression_list":
            items = items[0].children
        return ("Delete", tuple(self.expr(c) for c in items))

    def s_pass_statement(self, node):
        return ("Pass",)

    def s_break_statement(self, node):
        return ("Break",)

    def s_continue_statement(self, node):
        return ("Continue",)

    def s_assert_statement(self, node):
        return ("Assert", tuple(self.expr(c) for c in node.children))

    def s_raise_statement(self, node):
        cause = node.get("cause")
        items = [c for c in node.children if c is not cause]
        return ("Raise", self.exprs(items) if items else None, cause and self.expr(cause))

    def s_global_statement(self, node):
        return ("Global", tuple(canon(self.text(c)) for c in node.children))

    def s_nonlocal_statement(self, node):
        return ("Nonlocal", tuple(canon(self.text(c)) for c in node.children))

    def names(self, nodes):
        out = []
        for n in nodes:
            if n.kind == "aliased_import":
                out.append((self.dotted(n.get("name")), canon(self.text(n.get("alias")))))
            elif n.kind == "wildcard_import":
                out.append(("*", None))
            else:
                out.append((self.dotted(n), None))
        return tuple(out)

    def dotted(self, node):
        return ".".join(canon(self.text(c)) for c in node.children) if node.children else canon(self.text(node))

    def s_import_statement(self, node):
        return ("Import", self.names(node.children))

    def s_import_from_statement(self, node):
        module = node.get("module_name")
        rest = self.names([c for c in node.children if c is not module])
        if module.kind == "relative_import":
            dots = sum(self.text(c).count(".") for c in module.all if c.kind == "import_prefix")
            name = next((self.dotted(c) for c in module.children if c.kind == "dotted_name"), None)
            return ("ImportFrom", dots, name, rest)
        return ("ImportFrom", 0, self.dotted(module), rest)

    def s_future_import_statement(self, node):
        return ("ImportFrom", 0, "__future__", self.names(node.children))

    def s_type_alias_statement(self, node):
        left, right = node.get("left"), node.get("right")
        left = left.children[0] if left.kind == "type" else left
        params = ()
        if left.kind == "generic_type":
            left, params = left.children[0], self.type_params(left.children[1])
        return ("TypeAlias", self.expr(left), params, self.expr(right))

    def type_params(self, node):
        out = []
        for item in node.children if node else ():
            item = item.children[0] if item.kind == "type" else item
            bound = default = None
            if item.kind == "constrained_type":
                item, bound = item.children[0], self.expr(item.children[1])
            inner = item.children[0] if item.kind == "type" else item
            if inner.kind == "splat_type":
                out.append(("*" * (self.text(inner).count("*")), canon(self.text(inner.children[0])), bound, default))
            elif inner.kind == "identifier":
                out.append(("", canon(self.text(inner)), bound, default))
            else:
                raise Odd("type parameter " + inner.kind)
        return tuple(out)

    def block(self, node):
        return self.suite(node)

    def s_if_statement(self, node):
        alternatives = node.gets("alternative")
        orelse = ()
        for alt in reversed(alternatives):
            if alt.kind == "else_clause":
                orelse = self.block(alt.get("body"))
            else:
                orelse = (("stmt", alt.begin, ("If", self.expr(alt.get("condition")), self.block(alt.get("consequence")), orelse)),)
        return ("If", self.expr(node.get("condition")), self.block(node.get("consequence")), orelse)

    def alternative(self, node):
        alt = node.get("alternative")
        return self.block(alt.get("body")) if alt else ()

    def s_for_statement(self, node):
        return ("For", node.has("async"), self.expr(node.get("left")), self.expr(node.get("right")),
                self.block(node.get("body")), self.alternative(node))

    def s_while_statement(self, node):
        return ("While", self.expr(node.get("condition")), self.block(node.get("body")), self.alternative(node))

    def s_try_statement(self, node):
        handlers, orelse, final, star = [], (), (), False
        for c in node.children:
            if c.kind in ("except_clause", "except_group_clause"):
                handlers.append(self.handler(c))
                star = star or c.kind == "except_group_clause" or c.has("*")
            elif c.kind == "else_clause":
                orelse = self.block(c.get("body"))
            elif c.kind == "finally_clause":
                final = self.block(c.children[-1])
        return ("Try", star, self.block(node.get("body")), tuple(handlers), orelse, final)

    def handler(self, node):
        *what, body = node.children
        name = kind = None
        alias = node.get("alias")
        if alias is not None:
            name = canon(self.text(alias))
            what = [w for w in what if w is not alias]
        if len(what) == 1 and what[0].kind == "as_pattern":
            name, what = canon(self.text(what[0].children[1])), [what[0].children[0]]
        if what:
            kind = self.exprs(what)
        return (kind, name, self.block(body))

    def s_with_statement(self, node):
        clause = next(c for c in node.children if c.kind == "with_clause")
        items = clause.children
        # `with (a, b):` is a list of items to one reader and a tuple to the other, and means the same only without `as`.
        out = []
        for item in items:
            value = item.get("value")
            while value.kind == "parenthesized_expression" and self.around_alias(value):
                value = value.children[0]
            if value.kind == "as_pattern":
                out.append((self.expr(value.children[0]), self.target(value.children[1])))
            else:
                out.append((self.expr(value), None))
        return ("With", node.has("async"), tuple(out), self.block(node.get("body")))

    def around_alias(self, node):
        """`with (a as b):` has the parentheses of its list of items around one item."""
        while node.kind == "parenthesized_expression":
            node = node.children[0]
        return node.kind == "as_pattern"

    def target(self, node):
        return self.exprs(node.children) if node.kind == "as_pattern_target" else self.expr(node)

    def s_function_definition(self, node, decorators=()):
        result = node.get("return_type")
        return ("FunctionDef", node.has("async"), canon(self.text(node.get("name"))), decorators,
                self.type_params(node.get("type_parameters")), self.parameters(node.get("parameters")),
                result and self.expr(result), self.block(node.get("body")))

    def s_class_definition(self, node, decorators=()):
        bases = node.get("superclasses")
        args = self.arguments(bases) if bases else ((), ())
        return ("ClassDef", canon(self.text(node.get("name"))), decorators, self.type_params(node.get("type_parameters")),
                args, self.block(node.get("body")))

    def s_decorated_definition(self, node):
        decorators = tuple(self.bare(c) for c in node.children if c.kind == "decorator")
        inner = node.get("definition")
        return getattr(self, "s_" + inner.kind)(inner, decorators)

    def parameters(self, node):
        groups = {"posonly": [], "args": [], "vararg": None, "kwonly": [], "kwarg": None}
        here = "args"
        for p in node.children if node else ():
            kind = annotation = default = None
            if p.kind in ("keyword_separator", "positional_separator"):
                if p.kind == "positional_separator":
                    groups["posonly"], groups["args"] = groups["args"], []
                else:
                    here = "kwonly"
                continue
            core = p
            if p.kind in ("typed_parameter", "typed_default_parameter"):
                annotation = self.expr(p.get("type"))
            if p.kind == "typed_parameter":
                core = p.children[0]
            if p.kind in ("default_parameter", "typed_default_parameter"):
                core, default = p.get("name"), self.expr(p.get("value"))
            if core.kind == "list_splat_pattern":
                groups["vararg"] = (canon(self.text(core.children[0])), annotation)
                here = "kwonly"
            elif core.kind == "dictionary_splat_pattern":
                groups["kwarg"] = (canon(self.text(core.children[0])), annotation)
            elif core.kind == "identifier":
                groups[here].append((canon(self.text(core)), annotation, default))
            else:
                raise Odd("parameter " + core.kind)
        return (tuple(groups["posonly"]), tuple(groups["args"]), groups["vararg"], tuple(groups["kwonly"]), groups["kwarg"])

    def s_match_statement(self, node):
        subjects = node.gets("subject")
        body = node.get("body")
        if len(subjects) == 1 and not self.comma_after(subjects[0], self.colon(subjects[0], body)):
            subject = self.expr(subjects[0])
        else:
            subject = ("Tuple", tuple(self.expr(s) for s in subjects))
        return ("Match", subject, tuple(self.case(c) for c in body.children))

    def colon(self, before, body):
        at = self.source.find(b":", before.end)
        return at if 0 <= at < body.begin else body.begin

    def case(self, node):
        patterns = [c for c in node.children if c.kind == "case_pattern"]
        guard = node.get("guard")
        stop = guard.begin if guard else self.colon(patterns[-1], node.get("consequence"))
        one = len(patterns) == 1 and not self.comma_after(patterns[0], stop)
        pattern = self.pattern(patterns[0]) if one else ("PSeq", tuple(self.pattern(p) for p in patterns))
        return (pattern, guard and self.expr(guard.children[0]), self.block(node.get("consequence")))

    def pattern(self, node):
        kind, kids = node.kind, node.children
        if kind == "case_pattern":
            if not kids:
                text = self.text(node)
                if text == "_":
                    return ("PAs", None, None)
                raise Odd("case pattern " + text)
            if node.has("-"):
                return ("PValue", ("UnaryOp", "-", self.expr(kids[0])))
            return self.pattern(kids[0])
        if kind == "as_pattern":
            return ("PAs", self.pattern(kids[0]), canon(self.text(kids[-1])))
        if kind == "union_pattern":
            return ("POr", self.union(node))
        if kind in ("list_pattern", "tuple_pattern"):
            if kind == "tuple_pattern" and len(kids) == 1 and not self.comma_after(kids[0], node.end):
                return self.pattern(kids[0])
            return ("PSeq", tuple(self.pattern(k) for k in kids))
        if kind == "splat_pattern":
            name = canon(self.text(kids[0])) if kids else None
            return ("PStar", None if name in ("_", None) else name, self.text(node)[:2] == "**")
        if kind == "dict_pattern":
            keys = node.gets("key")
            values = node.gets("value")
            rest = [c for c in kids if c.kind == "splat_pattern"]
            keys = [("UnaryOp", "-", self.key(k)) if before and before.kind == "-" else self.key(k)
                    for before, k in zip([None, *keys], keys) if k.named]
            return ("PMap", tuple(keys), tuple(self.pattern(v) for v in values),
                    canon(self.text(rest[0].children[0])) if rest else None)
        if kind == "class_pattern":
            name, args, keywords = self.expr_dotted(kids[0]), [], []
            for k in kids[1:]:
                inner = k.children[0] if k.kind == "case_pattern" and k.children else k
                if inner.kind == "keyword_pattern":
                    keywords.append((canon(self.text(inner.children[0])), self.keyword_value(inner)))
                else:
                    args.append(self.pattern(k))
            return ("PClass", name, tuple(args), tuple(keywords))
        if kind == "complex_pattern":
            parts = [p for p in node.all]
            return ("PValue", self.complex(parts))
        if kind == "dotted_name":
            if len(kids) == 1:
                name = canon(self.text(node))
                return ("PAs", None, None if name == "_" else name)
            return ("PValue", self.expr_dotted(node))
        if kind in ("true", "false", "none"):
            return ("PSingle", self.text(node))
        if kind in ("string", "concatenated_string", "integer", "float"):
            return ("PValue", self.expr(node))
        raise Odd("pattern " + kind)

    def union(self, node):
        out, minus = [], None
        for c in node.all:
            if not c.named and c.kind == "-":
                minus = c
            elif c.named:
                pattern = self.pattern(c)
                out.append(("PValue", ("UnaryOp", "-", pattern[1])) if minus is not None else pattern)
                minus = None
        return tuple(out)

    def keyword_value(self, node):
        value = node.children[1] if len(node.children) > 1 else node.all[-1]
        if node.has("_"):
            return ("PAs", None, None)
        if node.has("-"):
            return ("PValue", ("UnaryOp", "-", self.expr(value)))
        return self.pattern(value)

    def key(self, node):
        text = self.text(node)
        if node.kind == "dotted_name":
            return self.expr_dotted(node)
        if node.kind == "complex_pattern":
            return self.complex(node.all)
        if node.kind == "case_pattern":
            return self.key(node.children[0])
        return self.expr(node)

    def complex(self, parts):
        tree = ast.parse(self.source[parts[0].begin : parts[-1].end].decode(), mode="eval").body
        return Theirs().expr(tree)

    def expr_dotted(self, node):
        names = [canon(self.text(c)) for c in node.children] or [canon(self.text(node))]
        out = ("Name", names[0])
        for name in names[1:]:
            out = ("Attribute", out, name)
        return out

    # expressions
    def expr(self, node):
        method = getattr(self, "e_" + node.kind, None)
        if method is None:
            raise Odd(f"expression {node.kind}")
        return method(node)

    def e_identifier(self, node):
        return ("Name", canon(self.text(node)))

    e_keyword_identifier = e_identifier

    def e_true(self, node):
        return ("Constant", self.text(node))

    e_false = e_none = e_true

    def e_ellipsis(self, node):
        return ("Constant", "Ellipsis")

    def e_integer(self, node):
        return ("Constant", repr(ast.literal_eval(self.text(node))))

    e_float = e_integer

    def e_parenthesized_expression(self, node):
        if len(node.children) != 1:
            raise Odd("parentheses around several")
        return self.expr(node.children[0])

    def e_expression_list(self, node):
        return ("Tuple", tuple(self.expr(c) for c in node.children))

    e_pattern_list = e_tuple = e_tuple_pattern = e_expression_list

    def e_tuple_pattern(self, node):
        if len(node.children) == 1 and not self.comma_after(node.children[0], node.end):
            return self.expr(node.children[0])
        return self.e_tuple(node)

    def e_list(self, node):
        return ("List", tuple(self.expr(c) for c in node.children))

    e_list_pattern = e_list

    def e_set(self, node):
        return ("Set", tuple(self.expr(c) for c in node.children))

    def e_dictionary(self, node):
        out = []
        for c in node.children:
            if c.kind == "pair":
                out.append((self.expr(c.get("key")), self.expr(c.get("value"))))
            elif c.kind == "dictionary_splat":
                out.append((None, self.expr(c.children[0])))
            else:
                raise Odd("entry " + c.kind)
        return ("Dict", tuple(out))

    def e_list_splat(self, node):
        return ("Starred", self.expr(node.children[0]))

    e_list_splat_pattern = e_list_splat

    def e_attribute(self, node):
        return ("Attribute", self.expr(node.get("object")), canon(self.text(node.get("attribute"))))

    def e_subscript(self, node):
        items = node.gets("subscript")
        items = [i for i in items if i.named]
        if len(items) == 1 and not self.comma_after(items[0], node.end) and items[0].kind not in ("list_splat",):
            return ("Subscript", self.expr(node.get("value")), self.expr(items[0]))
        return ("Subscript", self.expr(node.get("value")), ("Tuple", tuple(self.expr(i) for i in items)))

    def e_slice(self, node):
        parts, at = [None, None, None], 0
        for c in node.all:
            if not c.named and c.kind == ":":
                at += 1
            elif c.named:
                parts[at] = self.expr(c)
        return ("Slice", *parts)

    def e_call(self, node):
        args = node.get("arguments")
        if args.kind == "generator_expression":
            return ("Call", self.expr(node.get("function")), ((self.expr(args),), ()))
        return ("Call", self.expr(node.get("function")), self.arguments(args))

    def arguments(self, node):
        args, keywords = [], []
        for c in node.children:
            if c.kind == "keyword_argument":
                keywords.append((canon(self.text(c.get("name"))), self.expr(c.get("value"))))
            elif c.kind == "dictionary_splat":
                keywords.append((None, self.expr(c.children[0])))
            else:
                args.append(self.expr(c))
        return (tuple(args), tuple(keywords))

    def e_binary_operator(self, node):
        return ("BinOp", self.expr(node.get("left")), self.text(node.get("operator")), self.expr(node.get("right")))

    def e_unary_operator(self, node):
        return ("UnaryOp", self.text(node.get("operator") or node.all[0]), self.expr(node.get("argument")))

    def e_not_operator(self, node):
        return ("UnaryOp", "not", self.expr(node.get("argument")))

    def e_boolean_operator(self, node):
        op = self.text(node.get("operator"))
        left, right = node.get("left"), node.get("right")
        first = self.expr(left)
        if first[0] == "BoolOp" and first[1] == op:
            return ("BoolOp", op, (*first[2], self.expr(right)))
        return ("BoolOp", op, (first, self.expr(right)))

    def e_comparison_operator(self, node):
        items = [self.expr(c) for c in node.children]
        ops = tuple(c.kind for c in node.all if not c.named)
        return ("Compare", items[0], ops, tuple(items[1:]))

    def e_conditional_expression(self, node):
        body, test, orelse = node.children
        return ("IfExp", self.expr(test), self.expr(body), self.expr(orelse))

    def e_named_expression(self, node):
        return ("NamedExpr", self.expr(node.get("name")), self.expr(node.get("value")))

    def e_lambda(self, node):
        return ("Lambda", self.parameters(node.get("parameters")), self.expr(node.get("body")))

    def e_await(self, node):
        return ("Await", self.expr(node.children[0]))

    def e_yield(self, node):
        if node.has("from"):
            return ("YieldFrom", self.expr(node.children[0]))
        return ("Yield", self.exprs(node.children) if node.children else None)

    def comprehension(self, name):
        def convert(node):
            body, *clauses = node.children
            if body.kind == "pair":
                element = (self.expr(body.get("key")), self.expr(body.get("value")))
            else:
                element = self.expr(body)
            loops = []
            for c in clauses:
                if c.kind == "for_in_clause":
                    rights = [r for r in c.gets("right") if r.named]
                    loops.append([c.has("async"), self.expr(c.get("left")), self.exprs(rights), []])
                elif c.kind == "if_clause":
                    loops[-1][3].append(self.expr(c.children[0]))
                else:
                    raise Odd("clause " + c.kind)
            return (name, element, tuple((a, l, r, tuple(i)) for a, l, r, i in loops))

        return convert

    def e_list_comprehension(self, node):
        return self.comprehension("ListComp")(node)

    def e_set_comprehension(self, node):
        return self.comprehension("SetComp")(node)

    def e_dictionary_comprehension(self, node):
        return self.comprehension("DictComp")(node)

    def e_generator_expression(self, node):
        return self.comprehension("GeneratorExp")(node)

    def e_string(self, node):
        return self.strings([node])

    def e_concatenated_string(self, node):
        return self.strings(node.children)

    def strings(self, nodes):
        holes, plain, formatted = [], [], False
        for s in nodes:
            start = self.text(s.children[0]) if s.children else ""
            if "f" in start.lower():
                formatted = True
                holes += self.holes(s)
            else:
                plain.append(ast.literal_eval(self.text(s)))
        if formatted:
            return ("JoinedStr", tuple(holes))
        return ("Constant", repr(b"".join(plain) if isinstance(plain[0], bytes) else "".join(plain)))

    def holes(self, node):
        out = []
        for c in node.children:
            if c.kind == "interpolation":
                conversion = c.get("type_conversion")
                spec = c.get("format_specifier")
                value = self.exprs([v for v in c.children if v is not conversion and v is not spec])
                out.append((value, conversion and self.text(conversion)[1:], tuple(self.spec(spec)) if spec else None, c.has("=")))
            else:
                out += self.holes(c)
        return out

    def spec(self, node):
        out = []
        for c in node.children:
            if c.kind in ("format_expression", "interpolation"):
                conversion = c.get("type_conversion")
                spec = c.get("format_specifier")
                value = self.exprs([v for v in c.children if v is not conversion and v is not spec])
                out.append((value, conversion and self.text(conversion)[1:], tuple(self.spec(spec)) if spec else None, c.has("=")))
        return out

    # types
    def e_type(self, node):
        return self.expr(node.children[0])

    def e_generic_type(self, node):
        name, params = node.children
        items = [self.expr(c) for c in params.children]
        one = len(items) == 1 and not self.comma_after(params.children[0], params.end) and items[0][0] != "Starred"
        return ("Subscript", self.expr(name), items[0] if one else ("Tuple", tuple(items)))

    def e_union_type(self, node):
        return ("BinOp", self.expr(node.children[0]), "|", self.expr(node.children[1]))

    def e_member_type(self, node):
        return ("Attribute", self.expr(node.children[0]), canon(self.text(node.children[1])))

    def e_splat_type(self, node):
        return ("Starred", ("Name", canon(self.text(node.children[0]))))


# --- Python's tree ----------------------------------------------------------------------------------------------------

OPERATORS = {"Add": "+", "Sub": "-", "Mult": "*", "Div": "/", "FloorDiv": "//", "Mod": "%", "Pow": "**", "MatMult": "@",
             "LShift": "<<", "RShift": ">>", "BitOr": "|", "BitXor": "^", "BitAnd": "&", "And": "and", "Or": "or",
             "Not": "not", "UAdd": "+", "USub": "-", "Invert": "~", "Eq": "==", "NotEq": "!=", "Lt": "<", "LtE": "<=",
             "Gt": ">", "GtE": ">=", "Is": "is", "IsNot": "is not", "In": "in", "NotIn": "not in"}


class Theirs:
    def suite(self, nodes):
        return tuple(("stmt", None, self.stmt(n)) for n in nodes)

    def op(self, node):
        return OPERATORS[type(node).__name__]

    def stmt(self, n):
        e, name = self.expr, type(n).__name__
        o = lambda x: None if x is None else self.expr(x)
        if name == "Expr":
            return ("Expr", e(n.value))
        if name == "Assign":
            return ("Assign", tuple(map(e, n.targets)), e(n.value))
        if name == "AnnAssign":
            return ("AnnAssign", e(n.target), e(n.annotation), o(n.value))
        if name == "AugAssign":
            return ("AugAssign", e(n.target), self.op(n.op) + "=", e(n.value))
        if name == "Return":
            return ("Return", o(n.value))
        if name == "Delete":
            return ("Delete", tuple(map(e, n.targets)))
        if name in ("Pass", "Break", "Continue"):
            return (name,)
        if name == "Assert":
            return ("Assert", tuple(e(x) for x in (n.test, n.msg) if x is not None))
        if name == "Raise":
            return ("Raise", o(n.exc), o(n.cause))
        if name in ("Global", "Nonlocal"):
            return (name, tuple(n.names))
        if name == "Import":
            return ("Import", tuple((a.name, a.asname) for a in n.names))
        if name == "ImportFrom":
            return ("ImportFrom", n.level, n.module, tuple((a.name, a.asname) for a in n.names))
        if name == "TypeAlias":
            return ("TypeAlias", e(n.name), self.type_params(n.type_params), e(n.value))
        if name == "If":
            return ("If", e(n.test), self.suite(n.body), self.suite(n.orelse))
        if name in ("For", "AsyncFor"):
            return ("For", name == "AsyncFor", e(n.target), e(n.iter), self.suite(n.body), self.suite(n.orelse))
        if name == "While":
            return ("While", e(n.test), self.suite(n.body), self.suite(n.orelse))
        if name in ("Try", "TryStar"):
            handlers = tuple((o(h.type), h.name, self.suite(h.body)) for h in n.handlers)
            return ("Try", name == "TryStar", self.suite(n.body), handlers, self.suite(n.orelse), self.suite(n.finalbody))
        if name in ("With", "AsyncWith"):
            items = tuple((e(i.context_expr), o(i.optional_vars)) for i in n.items)
            return ("With", name == "AsyncWith", items, self.suite(n.body))
        if name in ("FunctionDef", "AsyncFunctionDef"):
            return ("FunctionDef", name != "FunctionDef", n.name, tuple(map(e, n.decorator_list)),
                    self.type_params(getattr(n, "type_params", ())), self.parameters(n.args), o(n.returns), self.suite(n.body))
        if name == "ClassDef":
            return ("ClassDef", n.name, tuple(map(e, n.decorator_list)), self.type_params(getattr(n, "type_params", ())),
                    self.arguments(n.bases, n.keywords), self.suite(n.body))
        if name == "Match":
            return ("Match", e(n.subject), tuple((self.pattern(c.pattern), o(c.guard), self.suite(c.body)) for c in n.cases))
        raise Odd("Python's " + name)

    def type_params(self, params):
        stars = {"TypeVar": "", "TypeVarTuple": "*", "ParamSpec": "**"}
        out = []
        for p in params:
            bound = getattr(p, "bound", None)
            default = getattr(p, "default_value", None)
            out.append((stars[type(p).__name__], p.name, bound and self.expr(bound), default and self.expr(default)))
        return tuple(out)

    def parameters(self, a):
        o = lambda x: None if x is None else self.expr(x)
        star = lambda x: None if x is None else (x.arg, o(x.annotation))
        positional = [*a.posonlyargs, *a.args]
        defaults = [None] * (len(positional) - len(a.defaults)) + list(a.defaults)
        rows = tuple((p.arg, o(p.annotation), o(d)) for p, d in zip(positional, defaults))
        only = len(a.posonlyargs)
        return (rows[:only], rows[only:], star(a.vararg),
                tuple((p.arg, o(p.annotation), o(d)) for p, d in zip(a.kwonlyargs, a.kw_defaults)), star(a.kwarg))

    def arguments(self, args, keywords):
        return (tuple(map(self.expr, args)), tuple((k.arg, self.expr(k.value)) for k in keywords))

    def pattern(self, p):
        name = type(p).__name__
        if name == "MatchValue":
            return ("PValue", self.expr(p.value))
        if name == "MatchSingleton":
            return ("PSingle", str(p.value))
        if name == "MatchAs":
            return ("PAs", p.pattern and self.pattern(p.pattern), p.name)
        if name == "MatchOr":
            return ("POr", tuple(map(self.pattern, p.patterns)))
        if name == "MatchSequence":
            return ("PSeq", tuple(map(self.pattern, p.patterns)))
        if name == "MatchStar":
            return ("PStar", p.name, False)
        if name == "MatchMapping":
            return ("PMap", tuple(map(self.expr, p.keys)), tuple(map(self.pattern, p.patterns)), p.rest)
        if name == "MatchClass":
            return ("PClass", self.expr(p.cls), tuple(map(self.pattern, p.patterns)),
                    tuple((k, self.pattern(v)) for k, v in zip(p.kwd_attrs, p.kwd_patterns)))
        raise Odd("Python's " + name)

    def loops(self, generators):
        return tuple((bool(g.is_async), self.expr(g.target), self.expr(g.iter), tuple(map(self.expr, g.ifs))) for g in generators)

    def expr(self, n):
        e, name = self.expr, type(n).__name__
        o = lambda x: None if x is None else self.expr(x)
        if name == "Name":
            return ("Name", n.id)
        if name == "Constant":
            return ("Constant", "Ellipsis" if n.value is ... else repr(n.value))
        if name == "Attribute":
            return ("Attribute", e(n.value), n.attr)
        if name == "Subscript":
            return ("Subscript", e(n.value), e(n.slice))
        if name == "Slice":
            return ("Slice", o(n.lower), o(n.upper), o(n.step))
        if name == "Call":
            return ("Call", e(n.func), self.arguments(n.args, n.keywords))
        if name == "Starred":
            return ("Starred", e(n.value))
        if name in ("Tuple", "List", "Set"):
            return (name, tuple(map(e, n.elts)))
        if name == "Dict":
            return ("Dict", tuple((o(k), e(v)) for k, v in zip(n.keys, n.values)))
        if name == "BinOp":
            return ("BinOp", e(n.left), self.op(n.op), e(n.right))
        if name == "UnaryOp":
            return ("UnaryOp", self.op(n.op), e(n.operand))
        if name == "BoolOp":
            op = self.op(n.op)
            values = list(map(e, n.values))
            # (a and b) and c is the same as a and b and c, to us and to whoever runs it.
            if values[0][0] == "BoolOp" and values[0][1] == op:
                return ("BoolOp", op, (*values[0][2], *values[1:]))
            return ("BoolOp", op, tuple(values))
        if name == "Compare":
            return ("Compare", e(n.left), tuple(map(self.op, n.ops)), tuple(map(e, n.comparators)))
        if name == "IfExp":
            return ("IfExp", e(n.test), e(n.body), e(n.orelse))
        if name == "NamedExpr":
            return ("NamedExpr", e(n.target), e(n.value))
        if name == "Lambda":
            return ("Lambda", self.parameters(n.args), e(n.body))
        if name in ("Await", "YieldFrom"):
            return (name, e(n.value))
        if name == "Yield":
            return ("Yield", o(n.value))
        if name in ("ListComp", "SetComp", "GeneratorExp"):
            return (name, e(n.elt), self.loops(n.generators))
        if name == "DictComp":
            return (name, (e(n.key), e(n.value)), self.loops(n.generators))
        if name == "JoinedStr":
            return ("JoinedStr", tuple(self.holes(n)))
        raise Odd("Python's " + name)

    def holes(self, n):
        out = []
        parts = n.values
        for i, v in enumerate(parts):
            if type(v).__name__ == "FormattedValue":
                conversion = None if v.conversion == -1 else chr(v.conversion)
                spec = None if v.format_spec is None else tuple(self.holes(v.format_spec))
                out.append((self.expr(v.value), conversion, spec))
        return out


# --- comparing --------------------------------------------------------------------------------------------------------


def without_equals(t):
    """`{x=}`: Python's tree says !r where nothing else is said; ours keeps the sign."""
    if not isinstance(t, tuple):
        return t
    if t and t[0] == "JoinedStr":
        return ("JoinedStr", tuple(hole(h) for h in t[1]))
    return tuple(without_equals(x) for x in t)


def hole(h):
    value, conversion, spec, equals = h
    if equals and conversion is None and spec is None:
        conversion = "r"
    return (without_equals(value), conversion, None if spec is None else tuple(hole(s) for s in spec))


def tag(t):
    if isinstance(t, tuple):
        if t and isinstance(t[0], str):
            return t[0] if t[0] != "stmt" else tag(t[2])
        return f"list of {len(t)}"
    return repr(t) if t is None else type(t).__name__


def difference(ours, theirs, at=None, context="module"):
    """The smallest pair of parts that differ: (context, ours, theirs, offset)."""
    if ours == theirs:
        return None
    if isinstance(ours, tuple) and ours and ours[0] == "stmt":
        at = ours[1]
        if isinstance(theirs, tuple) and theirs and theirs[0] == "stmt":
            return difference(ours[2], theirs[2], at, context)
    if isinstance(ours, tuple) and isinstance(theirs, tuple) and len(ours) == len(theirs):
        if ours and theirs and isinstance(ours[0], str) and isinstance(theirs[0], str) and ours[0] != theirs[0]:
            return (context, tag(ours), tag(theirs), at)
        inner = tag(ours) if ours and isinstance(ours[0], str) else context
        for a, b in zip(ours, theirs):
            found = difference(a, b, at, inner)
            if found:
                return found
        return None
    return (context, tag(ours), tag(theirs), at)


def trees(dump, paths):
    """(path, root Node or message, ours) for each path."""
    with tempfile.TemporaryFile("w+b") as names:
        names.write(b"".join(str(p).encode() + b"\n" for p in paths))
        names.seek(0)
        process = subprocess.Popen([dump], stdin=names, stdout=subprocess.PIPE)
    fields, path, stack, root, message = {}, None, [], None, None
    for line in process.stdout:
        line = line.decode()
        if line.startswith("FIELDS"):
            fields = {number: name for number, name in (f.split("=") for f in line.split()[1:])}
        elif line.startswith("FILE "):
            if path is not None:
                yield path, root, message
            path, stack, root, message = line[5:-1], [], None, None
        elif line.startswith("REFUSED "):
            message = line[8:-1]
        else:
            depth, begin, end, field, flag, kind = line[:-1].split(" ", 5)
            node = Node(kind, fields.get(field), int(begin), int(end), flag)
            depth = int(depth)
            del stack[depth:]
            if stack:
                # What is left out between (a node that does not count) has no children of its own.
                stack[-1].all.append(node)
                if node.named:
                    stack[-1].children.append(node)
            else:
                root = node
            stack.append(node)
    if path is not None:
        yield path, root, message
    process.wait()


def flagged(node, flag):
    """The first node below with that flag."""
    open_nodes = [node]
    while open_nodes:
        n = open_nodes.pop()
        if n.flag == flag:
            return n
        open_nodes += reversed(n.all)
    return None


class Table:
    def __init__(self):
        self.rows = collections.OrderedDict()

    def add(self, key, example):
        row = self.rows.setdefault(key, [0, example])
        row[0] += 1

    def print(self):
        for key, (count, example) in sorted(self.rows.items(), key=lambda item: -item[1][0]):
            print(f"{count:6}  {key}\n        {example}")


def compare(path, source, root, message, table):
    """One of: the same, not Python; refused, syntax error, marked (a site there is refused, each its own way); DIFFERENT."""
    try:
        theirs = ast.parse(source).body
        source.decode()
    except (SyntaxError, ValueError):
        return "not Python"
    if root is None:
        table.add("the file is refused: " + message, path)
        return "refused"
    shown = lambda at: source[source.rfind(b"\n", 0, at) + 1 :].split(b"\n")[0].decode("utf-8", "replace").strip()[:150]
    error = flagged(root, "!")
    if error:
        table.add("syntax error", f"{path}: {shown(error.begin)}")
        return "syntax error"
    result = "the same"
    if len(root.children) != len(theirs):
        table.add("DIFFERENT: number of statements", f"{path}: {shown(root.begin)}")
        return "DIFFERENT"
    for statement, their in zip(root.children, theirs):
        what, at = statement_difference(source, statement, their)
        if what is None:
            continue
        marked = flagged(statement, "?")
        table.add(f"{'marked' if marked else 'DIFFERENT'}: {what}", f"{path}: {shown(at)}")
        result = "marked" if marked and result != "DIFFERENT" else "DIFFERENT"
    return result


def statement_difference(source, statement, their):
    """(what differs, where), (None, None) where both are the same."""
    try:
        ours = without_equals(Ours(source).stmt(statement))
    except Odd as odd:
        return str(odd), statement.begin
    except (IndexError, AttributeError, TypeError, ValueError, StopIteration) as error:
        return f"no sense to be made of it ({error})", statement.begin
    found = difference(ours, ("stmt", None, Theirs().stmt(their)))
    if found is None:
        return None, None
    context, x, y, at = found
    return f"in {context}: ours {x}, Python's {y}", statement.begin if at is None else at


def files_of(paths):
    for path in map(pathlib.Path, paths):
        if path.is_dir():
            yield from sorted(p for p in path.rglob("*.py") if p.is_file())
        else:
            yield path


def compare_files(dump, paths, table):
    return collections.Counter(
        compare(path, pathlib.Path(path).read_bytes(), root, message, table)
        for path, root, message in trees(dump, list(files_of(paths)))
    )


def compare_snippets(dump, snippets, table):
    sources = [s.encode() for s in snippets]
    with tempfile.NamedTemporaryFile(suffix=".snippets") as file:
        file.write(b"".join(s + b"\x1e" for s in sources))
        file.flush()
        return collections.Counter(
            compare(repr(source.decode()), source, root, message, table)
            for (_, root, message), source in zip(trees(dump, [file.name]), sources)
        )


def main():
    dump, *paths = sys.argv[1:]
    table = Table()
    if paths == ["--generated"]:
        counts = compare_snippets(dump, grammar_corpus.snippets(), table)
    else:
        counts = compare_files(dump, paths, table)
    print(", ".join(f"{what}: {count}" for what, count in counts.most_common()))
    table.print()
    # The corpus must not have shrunk to nothing.
    return 1 if counts["DIFFERENT"] or not counts["the same"] else 0


if __name__ == "__main__":
    sys.exit(main())
