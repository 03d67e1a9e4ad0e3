// Words of real servers: which mean a definite no, and which only that somebody was faster or something broke.
import { describe, expect, test } from "vitest";
import { parsePorcelain } from "../../src/git/push.js";
import { findRefusal } from "../../src/git/refusal.js";

function refusal(stderr: string, porcelain = "") {
  return findRefusal(stderr, parsePorcelain(porcelain));
}

describe("a definite no", () => {
  test.each([
    [
      "a protected branch (GH006)",
      "rules",
      `remote: error: GH006: Protected branch update failed for refs/heads/main.
remote: error: Required status check "build" is expected.
error: failed to push some refs to 'https://github.com/octo/blog'`,
      "!\tabc:refs/heads/main\t[remote rejected] (protected branch hook declined)",
      /GH006: Protected branch update failed for refs\/heads\/main/,
      /protection/,
    ],
    [
      "a ruleset (GH013)",
      "rules",
      `remote: error: GH013: Repository rule violations found for refs/heads/main.
remote: Review all repository rules at https://github.com/octo/blog/rules?ref=refs%2Fheads%2Fmain
remote:
remote: - Changes must be made through a pull request.
error: failed to push some refs to 'https://github.com/octo/blog'`,
      "!\tabc:refs/heads/main\t[remote rejected] (push declined due to repository rule violations)",
      /GH013: Repository rule violations/,
      /bypass/,
    ],
    [
      "a workflow file and a token without that permission",
      "rules",
      "error: failed to push some refs to 'https://github.com/octo/blog'",
      "!\tabc:refs/heads/main\t[remote rejected] (refusing to allow a GitHub App to create or update workflow `.github/workflows/ci.yml` without `workflows` permission)",
      /without `workflows` permission/,
      /workflows permission/,
    ],
    [
      "a workflow file and an OAuth token without that scope",
      "rules",
      "error: failed to push some refs to 'https://github.com/octo/blog'",
      "!\tabc:refs/heads/main\t[remote rejected] (refusing to allow an OAuth App to create or update workflow `.github/workflows/ci.yml` without `workflow` scope)",
      /without `workflow` scope/,
      /workflows permission/,
    ],
    [
      "a hook",
      "rules",
      "error: failed to push some refs to '/srv/x.git'",
      "!\tabc:refs/heads/main\t[remote rejected] (pre-receive hook declined)",
      /pre-receive hook declined/,
      /hook/,
    ],
    [
      "a rule of the server against rewinding",
      "rules",
      "error: denying non-fast-forward refs/heads/x (you should pull first)",
      "!\tabc:refs/heads/x\t[remote rejected] (non-fast-forward)",
      /denying non-fast-forward/,
      /rule/,
    ],
    [
      "a checked-out branch",
      "rules",
      "remote: error: refusing to update checked out branch: refs/heads/main",
      "!\tabc:refs/heads/main\t[remote rejected] (branch is currently checked out)",
      /checked out/,
      /bare repository/,
    ],
    [
      "a tag that is there",
      "rules",
      "hint: Updates were rejected because the tag already exists in the remote.",
      "!\tabc:refs/tags/v1\t[rejected] (already exists)",
      /already exists/,
      /tag/,
    ],
    [
      "no rights (403)",
      "access",
      `remote: Permission to octo/blog.git denied to github-actions[bot].
fatal: unable to access 'https://github.com/octo/blog/': The requested URL returned error: 403`,
      "",
      /returned error: 403/,
      /contents: write/,
    ],
    [
      "wrong credentials",
      "access",
      "remote: Invalid username or token.\nfatal: Authentication failed for 'https://github.com/octo/blog/'",
      "",
      /Authentication failed/,
      /credentials/,
    ],
    [
      "no credentials",
      "access",
      "fatal: could not read Username for 'https://github.com': terminal prompts disabled",
      "",
      /could not read Username/,
      /credentials/,
    ],
    [
      "a wrong SSH key",
      "access",
      "git@github.com: Permission denied (publickey).\nfatal: Could not read from remote repository.",
      "",
      /Permission denied/,
      /credentials/,
    ],
    [
      "a key that may only read",
      "access",
      "ERROR: Write access to repository not granted.\nfatal: Could not read from remote repository.",
      "",
      /Write access/,
      /credentials/,
    ],
    [
      "a repository that GitHub does not show",
      "missing",
      "remote: Repository not found.\nfatal: repository 'https://github.com/octo/absent/' not found",
      "",
      /not found/,
      /address/,
    ],
    [
      "a path without a repository",
      "missing",
      "fatal: '/srv/absent.git' does not appear to be a git repository",
      "",
      /does not appear/,
      /address/,
    ],
    [
      "a server without atomic pushes",
      "unsupported",
      "fatal: the receiving end does not support --atomic push",
      "",
      /--atomic/,
      /advertiseAtomic/,
    ],
    [
      "a rule in words that nobody foresaw",
      "rules",
      "error: failed to push some refs to 'https://git.example.org/x'",
      "!\tabc:refs/heads/main\t[remote rejected] (commit message lacks a ticket)",
      /commit message lacks a ticket/,
      /reason it gives/,
    ],
  ] as const)("%s", (_, kind, stderr, porcelain, words, advice) => {
    const found = refusal(stderr, porcelain);
    expect(found).toMatchObject({ kind });
    expect(found?.words).toMatch(words);
    expect(found?.advice).toMatch(advice);
  });

  test("carries no credentials and no prefix of git's", () => {
    expect(
      refusal("fatal: unable to access 'https://u:secret@h/x/': The requested URL returned error: 403")
        ?.words,
    ).toBe("unable to access 'https://h/x/': The requested URL returned error: 403");
  });
});

describe("no definite no", () => {
  test.each([
    ["a tip that has moved", "", "!\tabc:refs/heads/x\t[rejected] (stale info)"],
    ["a branch that is ahead", "", "!\tabc:refs/heads/x\t[rejected] (fetch first)"],
    ["a branch that is elsewhere", "", "!\tabc:refs/heads/x\t[rejected] (non-fast-forward)"],
    [
      "a lock that another push holds",
      "remote: error: cannot lock ref 'refs/heads/x': Unable to create '/srv/x.git/refs/heads/x.lock': File exists.",
      "!\tabc:refs/heads/x\t[remote rejected] (failed to update ref)",
    ],
    [
      "a lock that found another tip",
      "remote: error: cannot lock ref 'refs/heads/x': is at 111 but expected 222",
      "!\tabc:refs/heads/x\t[remote rejected] (cannot lock ref 'refs/heads/x': is at 111 but expected 222)",
    ],
    [
      "a ref that was created beside it",
      "remote: error: cannot lock ref 'refs/heads/x': reference already exists",
      "!\tabc:refs/heads/x\t[remote rejected] (reference already exists)",
    ],
    [
      "the other refs of an atomic push",
      "",
      "!\tabc:refs/heads/x\t[rejected] (stale info)\n!\tabc:refs/heads/y\t[rejected] (atomic push failed)",
    ],
    [
      "a transaction that failed",
      "",
      "!\tabc:refs/heads/x\t[remote rejected] (atomic transaction failed)\n!\tabc:refs/heads/y\t[remote rejected] (atomic transaction failed)",
    ],
    [
      "a fault of the server",
      "remote: Internal Server Error",
      "!\tabc:refs/heads/x\t[remote rejected] (Internal Server Error)",
    ],
    [
      "a server error of HTTP",
      "fatal: unable to access 'https://h/x/': The requested URL returned error: 502",
      "",
    ],
    ["a lost connection", "fatal: the remote end hung up unexpectedly", ""],
    ["a connection that was refused", "fatal: unable to connect to h: Connection refused", ""],
    [
      "a name server that does not answer",
      "fatal: unable to access 'https://github.com/octo/blog/': Could not resolve host: github.com",
      "",
    ],
    [
      "a remark about rules that were bypassed, and a reply that was lost",
      "remote: Bypassed rule violations for refs/heads/main:\nfatal: the remote end hung up unexpectedly",
      "",
    ],
    [
      "a remark, and refs that say that no reply came",
      "remote: GH013: see the rules of this repository",
      "!\tabc:refs/heads/x\t[remote failure] (remote failed to report status)",
    ],
    [
      "a remark, and a ref that was overtaken",
      "remote: This is a protected branch; access denied to none.",
      "!\tabc:refs/heads/x\t[rejected] (stale info)",
    ],
    [
      "a remark with a push that was accepted",
      "remote: GH013: see the rules of this repository",
      " \tabc:refs/heads/x\tabc..def",
    ],
    [
      "an ssh that cannot keep its notes",
      "Could not create directory '/home/x/.ssh' (Permission denied).\r\nfatal: the remote end hung up unexpectedly",
      "",
    ],
    [
      "an ssh that may not read one key of several",
      'Load key "/home/x/.ssh/id_rsa": Permission denied\nfatal: the remote end hung up unexpectedly',
      "",
    ],
    ["nothing at all", "", ""],
    ["a push that worked", "remote: Processed 1 reference.", "*\tabc:refs/heads/x\t[new branch]"],
  ])("%s", (_, stderr, porcelain) => {
    expect(refusal(stderr, porcelain)).toBeNull();
  });
});
