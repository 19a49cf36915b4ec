/** The bearer token of an Authorization header; undefined when the header is not of that form. */
export function bearerToken(authorization: string | undefined): string | undefined {
  if (authorization === undefined || authorization.length > maxLength) return undefined
  const [scheme, token, ...rest] = authorization.trim().split(' ')
  if (scheme?.toLowerCase() !== 'bearer' || !token || rest.length > 0) return undefined
  return token
}

const maxLength = 64 * 1024
