/** Defines the log of calls that tests inspect. */
/** One request to the API. */
export interface Call {
  /**
   * The verb of the request: `get`, `list`, `watch`, `create`, `update`, `patch`, `delete` or `deletecollection`. For
   * non-resource paths, the HTTP method.
   */
  readonly verb: string
  /** API group as in `apiVersion`. Empty for the core group. */
  readonly group: string
  /**
   * Plural name of the resource and its subresource, if any, such as `pods` or `pods/status`. Empty for non-resource
   * paths.
   */
  readonly resource: string
  readonly namespace: string
  /** Name of the object. Empty if the path does not name an object, as for create and list. */
  readonly name: string
  /** User of the call. Empty if the request was not authenticated. */
  readonly user: string
  readonly path: string
  /** Status code of the response. 0 if the call has no response yet or if the connection was closed. */
  readonly code: number
}

/**
 * Selects calls that match all properties given here. An empty match selects all calls except those by the server's own
 * loops.
 */
export interface CallMatch {
  readonly verb?: string
  readonly group?: string
  /** Resource such as `pods`, or `pods/status` for a subresource, as in an RBAC rule. */
  readonly resource?: string
  readonly namespace?: string
  readonly name?: string
  readonly user?: string
}

/** The calls that clients made to a test server, in order. The log contains at least the last 10,000 calls. */
export interface CallLog extends Iterable<Call> {
  /** Returns all calls, or only the matching calls. */
  list(match?: CallMatch): Call[]
  /**
   * Resolves to the next matching call that has a response. Rejects after a timeout, which defaults to five seconds.
   *
   * @example
   * const updated = server.calls.next({ verb: 'update', resource: 'deployments/status' })
   * await server.client.create(deployments, web)
   * assert.equal((await updated).code, 200)
   */
  next(match?: CallMatch, options?: { readonly timeoutMs?: number }): Promise<Call>
  /** Clears the log. */
  clear(): void
}
