/** The flags of authenticating proxies, of the token webhook and of OpenID Connect. */
import { flag, oneOf, text, UsageError } from '../base/flags.ts'
import { list, readTime } from './flag-values.ts'

export const identityFlags = {
  requestheaderClientCaFile: flag(
    'requestheader-client-ca-file',
    'FILE',
    '',
    text,
    'PEM bundle of CAs whose certificates authenticating proxies show; needs --requestheader-username-headers',
  ),
  requestheaderAllowedNames: flag(
    'requestheader-allowed-names',
    'NAMES',
    '',
    list,
    'common names of proxies that may say who asks, separated by commas; empty: any that the CAs vouch for',
  ),
  requestheaderUsernameHeaders: flag(
    'requestheader-username-headers',
    'HEADERS',
    '',
    readHeaderNames,
    'headers of a proxy that name the user, separated by commas, such as X-Remote-User; the first with a value counts',
  ),
  requestheaderGroupHeaders: flag(
    'requestheader-group-headers',
    'HEADERS',
    '',
    readHeaderNames,
    'headers of a proxy of which every value is a group, such as X-Remote-Group',
  ),
  requestheaderExtraHeadersPrefix: flag(
    'requestheader-extra-headers-prefix',
    'PREFIXES',
    '',
    readHeaderNames,
    'with what headers of a proxy begin that tell more of the user, such as X-Remote-Extra-',
  ),
  authenticationTokenWebhookConfigFile: flag(
    'authentication-token-webhook-config-file',
    'FILE',
    '',
    text,
    'who is asked whose a token is: a client config (kubeconfig) that names the service',
  ),
  authenticationTokenWebhookCacheTtl: flag(
    'authentication-token-webhook-cache-ttl',
    'TIME',
    '2m0s',
    readTime,
    'how long an answer of that service is remembered; 0s: not at all',
  ),
  authenticationTokenWebhookVersion: flag(
    'authentication-token-webhook-version',
    'VERSION',
    'v1beta1',
    oneOf(['v1', 'v1beta1']),
    'the version of TokenReview that the service is asked in: v1 or v1beta1',
  ),
}

/** In lower case, as they are compared. */
function readHeaderNames(value: string): string[] {
  return list(value).map((name) => {
    if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name))
      throw new UsageError(`${JSON.stringify(name)} is not the name of a header: use one such as X-Remote-User`)
    return name.toLowerCase()
  })
}
