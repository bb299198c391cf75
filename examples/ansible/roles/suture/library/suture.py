"""Ansible's module: runs suture on the host, and tells what it did in Ansible's words. The action plugin of the same name
has put the executable there.
"""

import json

from ansible.module_utils.basic import AnsibleModule

DOCUMENTATION = r"""
module: suture
short_description: Patch the Python source of installed packages
description:
  - Applies or reverts patches with suture. Where anything is in doubt it writes nothing, and the task fails with the verdict.
  - In check mode nothing is written. In diff mode the unified diff is shown.
options:
  binary: {type: path, default: suture, description: "The static executable, on the controller."}
  tree: {type: str, description: "The tree on the host, as C(-t) takes it. Without it, the environment that suture finds."}
  patches: {type: list, elements: str, description: "Patches by name. All are written, or none. Empty with O(state=reverted): all."}
  state: {type: str, choices: [applied, reverted], default: applied}
  rules_dir: {type: path, description: "A folder of rules, on the controller."}
  patches_dir: {type: path, description: "A folder of patches, on the controller."}
  strict: {type: bool, default: false, description: "As C(--strict) of apply."}
attributes:
  check_mode: {support: full}
  diff_mode: {support: partial, details: "Of O(state=reverted) there is no diff."}
"""

RETURN = r"""
verdicts: {type: dict, returned: always, description: "Each patch's verdict, as it was found."}
written: {type: list, returned: always, description: "The files that were written or removed; in check mode those that would be."}
report: {type: dict, returned: always, description: "The document of the last run of suture --json."}
"""


def run(module, *words):
    """(exit code, document) of one run with --json."""
    options = ["--json"]
    for option in ("rules_dir", "patches_dir"):
        if module.params[option]:
            options += ["--" + option.replace("_", "-"), module.params[option]]
    if module.params["tree"]:
        options += ["-t", module.params["tree"]]
    if module.params["strict"] and words[0] == "apply":
        options.append("--strict")
    code, out, err = module.run_command([module.params["executable"], *words, *options])
    try:
        return code, json.loads(out)
    except ValueError:
        module.fail_json(msg="suture ended with exit code %s: %s" % (code, (err or out).strip()), rc=code)


def reasons(document):
    """One line for each thing that stopped it, with its places and hints."""
    lines = []
    for error in document["errors"]:
        lines.append(": ".join(filter(None, [error.get("message"), error.get("hint")])))
    for tree in document["trees"]:
        for patch in tree["patches"]:
            if patch["verdict"] not in ("applied", "applicable", "superseded", "outdated") or patch.get("error"):
                near = [candidate for rule in patch["rules"] for candidate in rule["candidates"]]
                lines.append("%s: %s: %s" % (patch["patch"], patch["verdict"], patch["reason"]))
                lines += ["  %s:%s: %s" % (place["path"], place["line"], place["text"]) for place in [*patch["evidence"], *near]]
                lines += ["  hint: " + hint for hint in patch["hints"]]
        for revert in tree.get("reverts", []):
            if revert["outcome"] in ("touched", "no-receipt", "refused"):
                lines.append("%s: %s: %s" % (revert["patch"], revert["outcome"], "; ".join([revert["reason"], *revert["hints"]])))
    return "\n".join(lines) or "suture says no more than its exit code"


def result_of(document):
    trees = document["trees"]
    return {
        "verdicts": {patch["patch"]: patch["verdict"] for tree in trees for patch in tree["patches"]},
        "written": sorted({path for tree in trees for path in [*tree["written"], *tree["removed"]]}),
        "report": document,
    }


def files_of(diff):
    """The paths that a unified diff writes, as the report names them."""
    return sorted({line[6:].split("\t")[0] for line in diff.splitlines() if line.startswith(("--- a/", "+++ b/"))})


def fail(module, code, document):
    module.fail_json(msg=reasons(document), rc=code, **result_of(document))


def applied(module):
    patches = module.params["patches"]
    diff = ""
    if module.check_mode or module._diff:
        code, document = run(module, "apply", "--dry-run", *patches)
        if code != 0:
            fail(module, code, document)
        diff = "".join(tree.get("diff", "") for tree in document["trees"])
        result = {**result_of(document), "written": files_of(diff), "changed": bool(diff)}
    if not module.check_mode:
        code, document = run(module, "apply", *patches)
        if code != 0:
            fail(module, code, document)
        result = result_of(document)
        result["changed"] = bool(result["written"])
    module.exit_json(diff={"prepared": diff}, **result)


def reverted(module):
    patches = module.params["patches"]
    if module.check_mode:
        # There is no dry run of a revert: what has a receipt would be taken back.
        code, document = run(module, "status", *patches)
        if code != 0:
            fail(module, code, document)
        changed = any(patch["receipt"] for tree in document["trees"] for patch in tree["patches"])
        module.exit_json(**{**result_of(document), "changed": changed})
    code, document = run(module, "revert", *(patches or ["--all"]))
    if code != 0:
        fail(module, code, document)
    result = result_of(document)
    module.exit_json(changed=bool(result["written"]), **result)


def main():
    module = AnsibleModule(
        argument_spec={
            "executable": {"type": "path", "required": True},
            "tree": {"type": "str"},
            "patches": {"type": "list", "elements": "str", "default": []},
            "state": {"type": "str", "choices": ["applied", "reverted"], "default": "applied"},
            "rules_dir": {"type": "path"},
            "patches_dir": {"type": "path"},
            "strict": {"type": "bool", "default": False},
        },
        supports_check_mode=True,
    )
    if module.params["state"] == "applied":
        if not module.params["patches"]:
            module.fail_json(msg="patches: name one or more (suture list tells which there are)")
        applied(module)
    reverted(module)


if __name__ == "__main__":
    main()
