// Lets a caller wait for a line of a running workflow's logs.
import type { RunOptions } from "./options.js";

export interface LineWatch {
  onLine: NonNullable<RunOptions["onLine"]>;
  /** Resolves with the first line that matches, past or future; rejects when the run ends without one. */
  seen(pattern: string | RegExp): Promise<string>;
  end(): void;
}

interface Waiting {
  matches: (line: string) => boolean;
  found: (line: string) => void;
  missed: () => void;
}

export function watchLines(options: RunOptions): LineWatch {
  const past: string[] = [];
  const waiting = new Set<Waiting>();
  let ended = false;
  return {
    onLine(line, source) {
      past.push(line);
      options.onLine?.(line, source);
      for (const watch of [...waiting].filter(({ matches }) => matches(line))) {
        waiting.delete(watch);
        watch.found(line);
      }
    },
    seen(pattern) {
      const matches = (line: string) =>
        typeof pattern === "string" ? line.includes(pattern) : pattern.test(line);
      return new Promise((resolve, reject) => {
        const missed = () =>
          reject(new Error(`The run ended without a line with ${pattern}:\n${past.join("\n")}`));
        const earlier = past.find(matches);
        if (earlier !== undefined) resolve(earlier);
        else if (ended) missed();
        else waiting.add({ matches, found: resolve, missed });
      });
    },
    end() {
      ended = true;
      for (const watch of waiting) watch.missed();
      waiting.clear();
    },
  };
}
