/** The flags that say where to go, and as whom: the same for every command, and accepted before its name too. */

import { flag, repeated, text, toggle, UsageError } from '../../../base/flags/flags.ts'
import { parseDuration } from '../../../base/time/duration.ts'
import { refusedFlags } from '../program/refused-flags.ts'

export const connectionFlags = {
  kubeconfig: flag(
    'kubeconfig',
    'FILE',
    '',
    text,
    'the client config to use; else $ORCHCONFIG or $KUBECONFIG, ~/.kube/config, ./.orch/admin.kubeconfig',
  ),
  context: flag('context', 'NAME', '', text, 'the context of the client config to use; else its current one'),
  cluster: flag('cluster', 'NAME', '', text, 'the cluster of the client config to use; else that of the context'),
  configUser: flag('user', 'NAME', '', text, 'the user of the client config to be; else that of the context'),
  server: flag('s,server', 'URL', '', readServer, 'the server to talk to; else that of the context'),
  namespace: flag('n,namespace', 'NAME', '', text, 'the namespace to look in; else that of the context, else default'),
  certificateAuthority: flag(
    'certificate-authority',
    'FILE',
    '',
    text,
    'who may have signed the certificate of the server',
  ),
  insecure: toggle('insecure-skip-tls-verify', 'talk to the server whatever its certificate is: anybody could be it'),
  tlsServerName: flag('tls-server-name', 'NAME', '', text, 'the name that the certificate of the server must be for'),
  clientCertificate: flag('client-certificate', 'FILE', '', text, 'the certificate to present to the server'),
  clientKey: flag('client-key', 'FILE', '', text, 'the key of that certificate'),
  token: flag('token', 'TOKEN', '', text, 'the bearer token to present to the server'),
  basicUser: flag('username', 'NAME', '', text, 'the name to present to the server, with a password'),
  basicPassword: flag('password', 'PASSWORD', '', text, 'the password of that name'),
  as: flag('as', 'USER', '', text, 'act as this user, if that is allowed: system:serviceaccount:NAMESPACE:NAME, alice'),
  asGroup: repeated('as-group', 'GROUP', text, 'act as a member of this group'),
  asUid: flag('as-uid', 'UID', '', text, 'act with this UID: with --as'),
  requestTimeout: flag(
    'request-timeout',
    'TIME',
    '0',
    readRequestTimeout,
    'how long an answer may take, and with -w the watch: 5s, 1m; 0: a good minute, and a watch without end',
  ),
  warningsAsErrors: toggle('warnings-as-errors', 'fail, at the end, where the server warned of something'),
  matchServerVersion: toggle('match-server-version', 'refuse to talk to a server of another version than orchctl'),
  verbosity: flag(
    'v,v',
    'LEVEL',
    '0',
    readLevel,
    '5: say that a watch was ended by its timeout; 6: show each request and how long it took; 7: with headers; 8: with bodies; 9: with whole bodies, and as a call of curl',
  ),
  ...refusedFlags,
}

/** Milliseconds. A bare number is seconds, as users of kubectl write it. */
export function readTime(value: string): number {
  const ms = parseDuration(/^\d{1,9}$/.test(value) ? `${value}s` : value)
  if (ms === undefined) throw new UsageError(`${JSON.stringify(value)} is not a time such as 5s or 1m30s`)
  return ms
}

function readRequestTimeout(value: string): number {
  try {
    return readTime(value)
  } catch {
    throw new UsageError(`Invalid timeout value ${JSON.stringify(value)}: write a time such as 5s or 1m30s`)
  }
}

function readLevel(value: string): number {
  if (!/^\d{1,2}$/.test(value)) throw new UsageError(`${JSON.stringify(value)} is not a level from 0 to 10`)
  return Number(value)
}

/** An address without a scheme is one of https. */
function readServer(value: string): string {
  const address = value === '' || /^\w+:\/\//.test(value) ? value : `https://${value}`
  if (address !== '' && !(URL.canParse(address) && ['https:', 'http:'].includes(new URL(address).protocol)))
    throw new UsageError(`${JSON.stringify(value)} is not an address such as https://127.0.0.1:6443`)
  return address
}
