/**
 * Reads the bearer token of an Authorization header like kube-apiserver: the scheme, one space, and the token up to the
 * next space. Returns undefined if the header has no token at that position, as in `Bearer` alone or with two spaces.
 * Such a request counts as having no credentials. A malformed token counts as an invalid token.
 */
export function bearerToken(authorization: string | undefined): string | undefined {
  const [scheme, token] = (authorization ?? '').trim().split(' ', 2)
  return scheme?.toLowerCase() === 'bearer' && token ? token : undefined
}

/** Whether the token is ignored only because more than one space precedes it. */
export function hasExtraSpace(authorization: string | undefined): boolean {
  return authorization !== undefined && /^\s*bearer {2,}\S/i.test(authorization)
}
