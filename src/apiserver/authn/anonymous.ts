/**
 * Anonymous access: decides which paths accept requests without credentials. Such requests run as the anonymous user.
 */
import type { User } from '../../api/model/user.ts'
import { type AuthenticationOutcome, type Authenticator, none } from './authenticator.ts'
import { hasExtraSpace } from './bearer.ts'

/** The user of requests without credentials, if such requests are allowed. */
const anonymousUser: User = {
  name: 'system:anonymous',
  uid: '',
  groups: ['system:unauthenticated'],
  extra: new Map(),
}

export interface AnonymousParts {
  /** Returns whether a request without credentials is accepted for the given path. */
  readonly isAllowedAt: (path: string) => boolean
  /** Whether the server warns a client if its token is ignored because of an additional space before the token. */
  readonly warnsOfSpaces: boolean
}

/** Accepts requests as the anonymous user. This strategy runs last, and only if no other strategy found credentials. */
export function anonymous({ isAllowedAt, warnsOfSpaces }: AnonymousParts): Authenticator {
  const outcome: AuthenticationOutcome = { result: 'user', user: anonymousUser }
  const outcomeWithWarning: AuthenticationOutcome = { ...outcome, warning: extraSpace }
  return ({ authorization, path = '' }) => {
    if (!isAllowedAt(path)) return none
    return warnsOfSpaces && hasExtraSpace(authorization) ? outcomeWithWarning : outcome
  }
}

const extraSpace = 'the Authorization header contains an extra space before the bearer token and is ignored'
