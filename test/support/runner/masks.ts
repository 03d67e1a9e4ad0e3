// Replaces secrets by `***` in whatever leaves a job.

/** The forms of a secret that actions/runner also hides (HostContext.cs, value encoders). */
const forms: ((secret: string) => string)[] = [
  (secret) => secret,
  (secret) => JSON.stringify(secret).slice(1, -1),
  (secret) => encodeURIComponent(secret),
  (secret) => Buffer.from(secret).toString("base64"),
];

export class Masks {
  #secrets: string[] = [];

  /** Each line of a secret of several lines is a secret of its own. */
  add(secret: string): void {
    for (const part of [secret, ...secret.split(/\r?\n/)]) {
      if (part.trim() === "") continue;
      for (const form of forms) this.#secrets.push(form(part));
    }
    // The longest first, else a short secret inside a long one would leave the rest of it readable.
    this.#secrets = [...new Set(this.#secrets)].sort((a, b) => b.length - a.length);
  }

  hide(text: string): string {
    return this.#secrets.reduce((hidden, secret) => hidden.replaceAll(secret, "***"), text);
  }

  has(text: string): boolean {
    return this.#secrets.some((secret) => text.includes(secret));
  }
}
