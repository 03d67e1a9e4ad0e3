// The git program is run with what we say and nothing else, and its words never carry credentials.
import { mkdirSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import {
  type GitCall,
  GitFailed,
  GitMissing,
  git,
  gitOutput,
  lastWords,
  redact,
} from "../../src/git/program.js";
import { type GitPlace, gitPlace } from "../store/git-place.js";

let place: GitPlace;
beforeEach(() => {
  place = gitPlace();
});
afterEach(() => place.dispose());

/** The environment that git hands on to what it runs. */
async function environment(call: Partial<GitCall> = {}): Promise<Record<string, string>> {
  const config = [...(call.config ?? []), ["alias.show-env", "!env"] as const];
  const output = await gitOutput({ cwd: place.folder, ...call, config, args: ["show-env"] });
  return Object.fromEntries(output.split("\n").map((line) => line.split(/=(.*)/s).slice(0, 2)));
}

describe("the environment of git", () => {
  test.each([
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
    "GIT_QUARANTINE_PATH",
    "GIT_SHALLOW_FILE",
    "GIT_GRAFT_FILE",
    "GIT_CONFIG",
    "GIT_PUSH_OPTION_COUNT",
    "GIT_PUSH_OPTION_0",
    "GIT_AUTHOR_DATE",
    "GIT_COMMITTER_DATE",
  ])("has no %s of the caller's", async (name) => {
    process.env[name] = "elsewhere";
    expect(Object.values(await environment())).not.toContain("elsewhere");
  });

  test.each(["GIT_SSH_COMMAND", "GIT_ASKPASS", "GIT_CONFIG_PARAMETERS", "HTTPS_PROXY", "GIT_AUTHOR_NAME"])(
    "has the caller's %s",
    async (name) => {
      const value = name === "GIT_CONFIG_PARAMETERS" ? "'a.b'='here'" : "here";
      process.env[name] = value;
      expect((await environment())[name]).toContain(value);
    },
  );

  test("makes git speak English, ask nobody, and follow no replaced object", async () => {
    process.env.LC_ALL = "de_DE.UTF-8";
    process.env.LANGUAGE = "de";
    process.env.GIT_TERMINAL_PROMPT = "1";
    expect(await environment()).toMatchObject({
      LC_ALL: "C",
      LANGUAGE: "",
      GIT_TERMINAL_PROMPT: "0",
      GIT_NO_REPLACE_OBJECTS: "1",
    });
  });

  test("does not lead git from the folder that was named to the caller's repository", async () => {
    const repository = `${place.folder}/mine`;
    place.git(place.folder, "init", "--quiet", repository);
    process.env.GIT_DIR = place.origin;
    const found = await gitOutput({ cwd: repository, args: ["rev-parse", "--absolute-git-dir"] });
    expect(found.trim()).toBe(`${repository}/.git`);
  });

  test("adds settings after those that the caller passes by environment", async () => {
    Object.assign(process.env, {
      GIT_CONFIG_COUNT: "1",
      GIT_CONFIG_KEY_0: "x.theirs",
      GIT_CONFIG_VALUE_0: "1",
    });
    const config = [
      ["x.ours", "two words"],
      ["x.ours", "æ\n="],
    ] as const;
    const listed = await gitOutput({ cwd: place.folder, config, args: ["config", "--list", "-z"] });
    expect(listed).toContain("x.theirs\n1\0x.ours\ntwo words\0x.ours\næ\n=\0");
  });

  test("takes what a call says over everything", async () => {
    process.env.GIT_AUTHOR_DATE = "@1 +0000";
    expect((await environment({ env: { GIT_AUTHOR_DATE: "@2 +0000" } })).GIT_AUTHOR_DATE).toBe("@2 +0000");
  });
});

describe("a call of git", () => {
  test("answers with its code and both outputs, also when it fails", async () => {
    const reply = await git({ cwd: place.folder, args: ["rev-parse", "--verify", "absent"] });
    expect(reply.code).toBe(128);
    expect(reply.stderr).toContain("fatal:");
    expect(reply.stdout.length).toBe(0);
  });

  test("passes arguments as data, whatever they contain", async () => {
    const name = "a b;$(touch x)'\"\\æ";
    const oid = await gitOutput({ cwd: place.origin, args: ["hash-object", "-w", "--stdin"], input: name });
    expect(await gitOutput({ cwd: place.origin, args: ["cat-file", "-p", oid.trim()] })).toBe(name);
    const reply = await git({ cwd: place.origin, args: ["rev-parse", "--verify", "--quiet", name] });
    expect(reply.code).toBe(1);
  });

  test("survives a git that ends before it has read its input", async () => {
    const reply = await git({ cwd: place.folder, args: ["version"], input: "x".repeat(5_000_000) });
    expect(reply.code).toBe(0);
  });

  test("names the command and the last words when it must not fail", async () => {
    const failed = gitOutput({ cwd: place.folder, args: ["--no-pager", "rev-parse", "--verify", "absent"] });
    await expect(failed).rejects.toBeInstanceOf(GitFailed);
    await expect(failed).rejects.toThrow(/^git rev-parse failed \(exit 128\): fatal: /);
  });

  test("with an absent folder says so, and does not blame git alone", async () => {
    const cwd = `${place.folder}/absent`;
    const call = git({ cwd, args: ["version"] });
    await expect(call).rejects.toBeInstanceOf(GitMissing);
    await expect(call).rejects.toThrow(cwd);
  });

  test("without git on the PATH says so", async () => {
    process.env.PATH = place.folder;
    await expect(git({ args: ["version"] })).rejects.toMatchObject({ name: "GitMissing" });
  });

  test("is not started when its signal has aborted", async () => {
    const signal = AbortSignal.abort(new Error("too late"));
    const target = `${place.folder}/never`;
    await expect(git({ args: ["init", target], signal })).rejects.toThrow("too late");
    expect(place.lines("never/.git/HEAD")).toEqual([]);
  });

  test("is ended when its signal aborts, with the signal's reason", async () => {
    const stop = new AbortController();
    const call = git({
      cwd: place.folder,
      args: ["hold"],
      config: [["alias.hold", "!exec sleep 5"]],
      signal: stop.signal,
    });
    const ended = expect(call).rejects.toThrow("enough");
    setTimeout(() => stop.abort(new Error("enough")), 300);
    const started = performance.now();
    await ended;
    expect(performance.now() - started).toBeLessThan(2500);
  });

  test("that ends in spite of a signal that it does not heed, a little later, with all that it started", async () => {
    const stop = new AbortController();
    const stubborn = place.script(
      "stubborn",
      'trap "" TERM; echo x >> "$FOLDER/up"; sleep 40 & wait; sleep 40',
    );
    const config = [["alias.hold", `!${stubborn}`]] as const;
    const call = git({ cwd: place.folder, args: ["hold"], config, signal: stop.signal });
    const ended = expect(call).rejects.toThrow("enough");
    await expect.poll(() => place.lines("up")).toHaveLength(1);
    stop.abort(new Error("enough"));
    await ended;
    await expect.poll(() => place.processes(), { timeout: 6000 }).toEqual([]);
  });

  test.each(["ESRCH", "EPERM"])(
    "that cannot be ended any more (%s) is aborted all the same",
    async (code) => {
      const stop = new AbortController();
      const call = git({
        cwd: place.folder,
        args: ["hold"],
        config: [["alias.hold", "!exec sleep 1"]],
        signal: stop.signal,
      });
      const ended = expect(call).rejects.toThrow("enough");
      const kill = vi.spyOn(process, "kill").mockImplementation(() => {
        throw Object.assign(new Error(code), { code });
      });
      try {
        expect(() => stop.abort(new Error("enough"))).not.toThrow();
        await ended;
        expect(kill).toHaveBeenCalledOnce();
      } finally {
        kill.mockRestore();
      }
    },
  );

  test("that a signal of the system ended has failed, and says by which", async () => {
    mkdirSync(`${place.folder}/bin`);
    place.script("bin/git", "kill -9 $$");
    process.env.PATH = `${place.folder}/bin:${process.env.PATH}`;
    const reply = await git({ cwd: place.folder, args: ["status"] });
    expect(reply.code).not.toBe(0);
    expect(lastWords(reply.stderr)).toContain("SIGKILL");
  });
});

describe("text for people", () => {
  test.each([
    ["https://x-access-token:ghs_secret@github.com/o/r", "https://github.com/o/r"],
    ["fatal: unable to access 'https://u:secret@h/x/': 403", "fatal: unable to access 'https://h/x/': 403"],
    ["https://secret@h/a and ssh://secret@h/b", "https://h/a and ssh://h/b"],
    ["HTTPS://U:secret@H/", "HTTPS://H/"],
    ["https://u:p%40secret@h/", "https://h/"],
    ["https://u:p@secret@h/", "https://h/"],
    ["https://h/x.git?private_token=secret", "https://h/x.git?private_token=***"],
    ["https://h/x?a=1&access_token=secret&b=2", "https://h/x?a=1&access_token=***&b=2"],
    ["'https://h/x?X-Amz-Signature=secret': 403", "'https://h/x?X-Amz-Signature=***': 403"],
    ["https://h/x?api_key=secret#top", "https://h/x?api_key=***#top"],
  ])("holds no user, no password and no token of a URL: %s", (given, shown) => {
    expect(redact(given)).toBe(shown);
  });

  test.each([
    "https://h/x@y",
    "https://h/x?ref=main&page=2",
    "token=42 is the next",
    "git@github.com:o/r.git",
    "mail maria@example.org",
    "/srv/a@b.git",
  ])("keeps what is no credential: %s", (given) => {
    expect(redact(given)).toBe(given);
  });

  test.each([
    ["remote: hello\nfatal: no such thing\nhint: try\n", "fatal: no such thing"],
    ["error: first\nfatal: second\n", "error: first"],
    ["remote: ERROR: project not found\n\n", "remote: ERROR: project not found"],
    ["just this\n\n", "just this"],
    ["  \n", "it said nothing"],
    ["fatal: could not read from https://u:secret@h/", "fatal: could not read from https://h/"],
  ])("takes the telling line of %j", (given, words) => {
    expect(lastWords(given)).toBe(words);
  });
});
