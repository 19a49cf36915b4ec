/** Makes Pods wait for changes to objects before they are bound. */

/** The state of an object: ready, not ready yet, or the reason why it will never become ready. */
export type WaitState = 'ready' | 'waiting' | { readonly why: string }

export interface WaitLimits {
  readonly timeoutMs: number
  readonly signal: AbortSignal
}

export class ObjectWaiters {
  readonly #checks = new Map<string, Set<() => void>>()

  /** Notifies the Pods that wait for a changed object. */
  notice(key: string): void {
    for (const check of [...(this.#checks.get(key) ?? [])]) check()
  }

  /**
   * Waits until all objects with these keys are ready. `states` returns their current states. Resolves with undefined
   * if all objects are ready, or with the reason why an object will never become ready.
   */
  async wait(
    keys: readonly string[],
    states: () => readonly WaitState[],
    { timeoutMs, signal }: WaitLimits,
  ): Promise<string | undefined> {
    const outcome = Promise.withResolvers<string | undefined>()
    const check = () => {
      const current = states()
      const fault = current.find((state) => typeof state === 'object')
      if (fault !== undefined) outcome.resolve(fault.why)
      else if (current.every((state) => state === 'ready')) outcome.resolve(undefined)
    }
    const onAbort = () => outcome.resolve('the scheduler is stopping')
    const timer = setTimeout(() => outcome.resolve('timed out waiting for the condition'), timeoutMs)
    signal.addEventListener('abort', onAbort)
    for (const key of keys) this.#follow(key, check)
    check()
    try {
      return await outcome.promise
    } finally {
      clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
      for (const key of keys) this.#unfollow(key, check)
    }
  }

  #follow(key: string, check: () => void): void {
    const checks = this.#checks.get(key) ?? new Set()
    this.#checks.set(key, checks.add(check))
  }

  #unfollow(key: string, check: () => void): void {
    const checks = this.#checks.get(key)
    checks?.delete(check)
    if (checks?.size === 0) this.#checks.delete(key)
  }
}
