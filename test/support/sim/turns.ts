/** Tasks that make one step at a time, in the order that a test wants. A task that gets no turn any more was killed. */
export class Turns {
  private readonly tasks: Task[];

  constructor(count: number) {
    this.tasks = Array.from({ length: count }, () => ({ next: Promise.withResolvers() }));
  }

  /** Called by a task: waits for its turn and makes the step. */
  async step<T>(who: number, run: () => T): Promise<T> {
    const [turn, made] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    (this.tasks[who] as Task).next.resolve({ go: turn.resolve, made: made.promise });
    await turn.promise;
    (this.tasks[who] as Task).next = Promise.withResolvers();
    try {
      return run();
    } finally {
      made.resolve();
    }
  }

  end(who: number): void {
    (this.tasks[who] as Task).next.resolve(undefined);
  }

  /** Lets a task make its next step; false if it has ended. */
  async give(who: number): Promise<boolean> {
    const step = await (this.tasks[who] as Task).next.promise;
    step?.go();
    await step?.made;
    return step !== undefined;
  }
}

interface Task {
  next: PromiseWithResolvers<{ readonly go: () => void; readonly made: Promise<void> } | undefined>;
}
