// Signals to us: the first one is remembered, and every one is passed on to whoever is at work.
export class Interrupt {
  name: "SIGINT" | "SIGTERM" | "SIGHUP" | undefined;
  forward: ((name: NodeJS.Signals) => void) | undefined;
  private readonly controller = new AbortController();
  readonly signal = this.controller.signal;
  private readonly handlers = (["SIGINT", "SIGTERM", "SIGHUP"] as const).map((name) => {
    const handler = () => {
      this.name ??= name;
      this.forward?.(name);
      this.controller.abort();
    };
    process.on(name, handler);
    return { name, handler };
  });

  dispose(): void {
    for (const { name, handler } of this.handlers) process.off(name, handler);
  }
}
