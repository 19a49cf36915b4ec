/** What a test can ask about the calls of clients. */
/** One request to the API. */
export interface Call {
  /** `get`, `list`, `watch`, `create`, `update`, `patch`, `delete` or `deletecollection`; the method for other paths. */
  readonly verb: string
  /** The group as in `apiVersion`; empty for the core group. */
  readonly group: string
  /** The plural name, with the sub-resource where there is one: `pods`, `pods/status`; empty for other paths. */
  readonly resource: string
  readonly namespace: string
  /** Empty where the path names no object, as that of a creation or a list. */
  readonly name: string
  /** The user as which the call ran; empty where nobody was authenticated. */
  readonly user: string
  readonly path: string
  /** The code of the answer; 0 where there is none yet, or where the connection broke before. */
  readonly code: number
}

/** Which calls are meant: all that have each of these; none of them: all calls but those of the server's own loops. */
export interface CallMatch {
  readonly verb?: string
  readonly group?: string
  /** `pods`, or `pods/status` for a sub-resource, as in a rule of RBAC. */
  readonly resource?: string
  readonly namespace?: string
  readonly name?: string
  readonly user?: string
}

/** What clients asked of a test server, the latest calls last: at least the last 10,000 of them. */
export interface CallLog extends Iterable<Call> {
  /** All calls, or those that match. */
  list(match?: CallMatch): Call[]
  /**
   * Resolves with the next call that matches and has been answered. Rejects when none has come in time; five seconds by
   * default.
   *
   * @example
   * const updated = server.calls.next({ verb: 'update', resource: 'deployments/status' })
   * await server.client.create(deployments, web)
   * assert.equal((await updated).code, 200)
   */
  next(match?: CallMatch, options?: { readonly timeoutMs?: number }): Promise<Call>
  /** Forgets all calls. */
  clear(): void
}
