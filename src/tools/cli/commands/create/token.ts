/**
 * Implements `orchctl create token`, which requests a token for a service account. The command prints the token and
 * does not store it.
 */

import { type ApiObject, asJson } from '../../../../api/model/object.ts'
import { apiVersionOf } from '../../../../api/model/vendor.ts'
import { flag, oneOf, repeated, text, UsageError } from '../../../../base/flags/flags.ts'
import * as kinds from '../../../../client/requests/built-in-kinds.ts'
import { objectPath } from '../../../../client/requests/resource-type.ts'
import { connectionFlags, readTime } from '../../connection/connection-flags.ts'
import { parseResponseBody } from '../../connection/raw-body.ts'
import { type Session, withSession } from '../../connection/session.ts'
import { escapeLine } from '../../printers/escape.ts'
import { printDocument } from '../../printers/objects.ts'
import { defineCommand } from '../../program/command.ts'

const flags = {
  audience: repeated({ name: 'audience', value: 'NAME', read: text, help: 'audience of the token' }),
  duration: flag({
    name: 'duration',
    value: 'TIME',
    default: '0',
    read: readTime,
    help: 'lifetime of the token, such as 1h; 0 to let the server decide',
  }),
  boundKind: flag({
    name: 'bound-object-kind',
    value: 'KIND',
    read: text,
    help: 'kind of object to bind the token to: Pod or Secret; the token becomes invalid when this object is deleted',
  }),
  boundName: flag({
    name: 'bound-object-name',
    value: 'NAME',
    read: text,
    help: 'name of the object that the token is bound to',
  }),
  boundUid: flag({
    name: 'bound-object-uid',
    value: 'UID',
    read: text,
    help: 'UID of the object that the token is bound to',
  }),
  output: flag({
    name: 'output',
    letter: 'o',
    value: 'FORMAT',
    read: oneOf(['', 'json', 'yaml']),
    help: 'output format: json or yaml to print the whole TokenRequest; default: print only the token',
  }),
  ...connectionFlags,
}

interface TokenRequest extends ApiObject {
  status?: { token?: string }
}

export const createTokenCommand = defineCommand({
  name: 'create token',
  forms: ['SERVICE_ACCOUNT [flags]'],
  about: 'Request a token for a service account, and print it.',
  examples: [
    'orchctl create token robot',
    'orchctl create token robot --duration=10m --audience=https://vault.example.com',
  ],
  flags,
  run: async (context, { options, words }) => {
    const [name = '', ...more] = words
    if (name === '' || more.length > 0) throw new UsageError('specify exactly one service account')
    if ((options.boundKind === '') !== (options.boundName === ''))
      throw new UsageError('--bound-object-kind and --bound-object-name must be specified together')
    await withSession(context, options, async (session) => {
      const bound = {
        kind: options.boundKind,
        apiVersion: 'v1',
        name: options.boundName,
        ...(options.boundUid === '' ? {} : { uid: options.boundUid }),
      }
      const spec = {
        ...(options.audience.length === 0 ? {} : { audiences: options.audience }),
        ...(options.duration === 0 ? {} : { expirationSeconds: Math.round(options.duration / 1000) }),
        ...(options.boundKind === '' ? {} : { boundObjectRef: bound }),
      }
      const answer = await ask(session, name, spec)
      if (options.output !== '') return context.out(await printDocument(asJson(answer), options.output))
      if (!answer.status?.token) throw new UsageError("the server's response contains no token")
      context.out(`${escapeLine(answer.status.token)}\n`)
    })
  },
})

async function ask({ client, context, namespace, types }: Session, name: string, spec: object): Promise<TokenRequest> {
  const body = {
    apiVersion: apiVersionOf(await types.vendor(), 'authentication', 'v1'),
    kind: 'TokenRequest',
    metadata: {},
    spec,
  }
  const path = objectPath(kinds.ServiceAccount, { namespace, name }, 'token')
  return await parseResponseBody<TokenRequest>(
    await client.open({ method: 'POST', path, body, signal: context.signal }),
  )
}
