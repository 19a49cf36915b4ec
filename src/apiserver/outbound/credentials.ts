/**
 * The credentials that this server sends to other servers: a client certificate, a token, or a user name and password.
 * If no credentials are configured for another server, this server sends none.
 */
export interface Credentials {
  /** The client certificate in PEM format. */
  readonly certificate?: string | undefined
  readonly key?: string | undefined
  readonly token?: string | undefined
  readonly username?: string | undefined
  readonly password?: string | undefined
}

/** Empty credentials, for servers without configured credentials. */
export const noCredentials: Credentials = {}

export function headersOf({ token, username, password }: Credentials): { authorization?: string } {
  if (token) return { authorization: `Bearer ${token}` }
  if (!username && !password) return {}
  return { authorization: `Basic ${Buffer.from(`${username ?? ''}:${password ?? ''}`).toString('base64')}` }
}

/** The credentials in a kubeconfig file. */
export interface ConfiguredCredentials {
  /**
   * Credentials by host name and port, from the `users` of a kubeconfig file. Keys can be wildcards, as in
   * `s.n.svc:8443`, `*.n.svc` and `*`.
   */
  readonly byName: ReadonlyMap<string, Credentials>
  /** Credentials of the kubeconfig file's current context. */
  readonly byDefault?: Credentials | undefined
}

/**
 * Returns the credentials for a host and port. An exact name takes precedence, then the longest matching `*.` wildcard,
 * then `*`, then the current context. For port 443, a name without a port also matches.
 */
export function credentialsFor(configured: ConfiguredCredentials, host: string, port: number): Credentials {
  const names = port === 443 ? [`${host}:443`, host] : [`${host}:${port}`]
  for (const name of names.flatMap(withWildcards)) {
    const namedUser = configured.byName.get(name)
    if (namedUser !== undefined) return namedUser
  }
  return configured.byName.get('*') ?? configured.byDefault ?? noCredentials
}

/**
 * Returns the keys under which a host's credentials can be configured. For `a.b.c`, these are `a.b.c`, `*.b.c` and
 * `*.c`.
 */
function withWildcards(name: string): string[] {
  const steps = name.split('.')
  return [name, ...steps.slice(1).map((_, i) => `*.${steps.slice(i + 1).join('.')}`)]
}
