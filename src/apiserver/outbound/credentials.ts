/**
 * The credentials that this server sends to other servers: a client certificate, a token, or a user name and password.
 * A server for which no credentials are configured receives none.
 */
export interface Credentials {
  /** PEM. */
  readonly certificate?: string | undefined
  readonly key?: string | undefined
  readonly token?: string | undefined
  readonly username?: string | undefined
  readonly password?: string | undefined
}

/** The value for servers that receive no credentials. */
export const noCredentials: Credentials = {}

export function headersOf({ token, username, password }: Credentials): { authorization?: string } {
  if (token) return { authorization: `Bearer ${token}` }
  if (!username && !password) return {}
  return { authorization: `Basic ${Buffer.from(`${username ?? ''}:${password ?? ''}`).toString('base64')}` }
}

/** The credentials from a kubeconfig file. */
export interface ConfiguredCredentials {
  /** Credentials by host and port, as in the `users` of a kubeconfig file: `s.n.svc:8443`, `*.n.svc`, `*`. */
  readonly byName: ReadonlyMap<string, Credentials>
  /** Credentials of the file's current context, if there is one. */
  readonly byDefault?: Credentials | undefined
}

/**
 * Returns the credentials for a host and port. An exact name takes precedence, then the longest matching `*.` wildcard,
 * then `*`, then the current context. For port 443, names without a port also match.
 */
export function credentialsFor(configured: ConfiguredCredentials, host: string, port: number): Credentials {
  const names = port === 443 ? [`${host}:443`, host] : [`${host}:${port}`]
  for (const name of names.flatMap(withWildcards)) {
    const namedUser = configured.byName.get(name)
    if (namedUser !== undefined) return namedUser
  }
  return configured.byName.get('*') ?? configured.byDefault ?? noCredentials
}

/** `a.b.c`, `*.b.c`, `*.c` */
function withWildcards(name: string): string[] {
  const steps = name.split('.')
  return [name, ...steps.slice(1).map((_, i) => `*.${steps.slice(i + 1).join('.')}`)]
}
