/** The bearer token of an Authorization header; undefined when the header is not of that form. */
export function bearerToken(authorization: string | undefined): string | undefined {
  // Whatever follows is the token, so that an odd one is a wrong one and not none at all.
  return /^\s*bearer\s+(\S.*)$/i.exec(authorization ?? '')?.[1]?.trimEnd()
}
