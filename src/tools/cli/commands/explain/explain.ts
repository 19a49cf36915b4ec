/** Implements `orchctl explain`, which shows the server's documentation of a type and its fields. */
import { flag, refusedFlag, text, toggle, UsageError } from '../../../../base/flags/flags.ts'
import type { DiscoveredType } from '../../../../client/requests/discovery.ts'
import { connectionFlags } from '../../connection/connection-flags.ts'
import { type Session, withSession } from '../../connection/session.ts'
import { escapeText } from '../../printers/escape.ts'
import { defineCommand } from '../../program/command.ts'
import { Definitions } from './definitions.ts'
import { documentOf } from './document.ts'
import { explanation } from './explanation.ts'

const flags = {
  recursive: toggle({ name: 'recursive', help: 'list all fields recursively, without descriptions' }),
  apiVersion: flag({
    name: 'api-version',
    value: 'VERSION',
    read: text,
    help: 'API version of the type, such as apps/v1',
  }),
  output: refusedFlag('output', 'not implemented: text is the only format', { value: 'FORMAT', accepted: 'plaintext' }),
  ...connectionFlags,
}

export const explainCommand = defineCommand({
  name: 'explain',
  forms: ['TYPE[.FIELD...] [flags]'],
  about: 'Describe a resource type and its fields.',
  examples: [
    'orchctl explain configmap',
    'orchctl explain pod.spec.containers',
    'orchctl explain deployment.spec --recursive',
  ],
  flags,
  run: async (context, { options, words }) => {
    const [path = '', ...more] = words
    if (path === '')
      throw new UsageError('you must specify the type of resource to explain: see `orchctl api-resources`')
    if (more.length > 0)
      throw new UsageError(
        `We accept only this format: explain RESOURCE; unexpected argument ${JSON.stringify(more[0])}`,
      )
    await withSession(context, options, async (session) => {
      const { type, fields } = await subjectOf(session, path, options.apiVersion)
      const definitions = new Definitions(await documentOf(session, type))
      context.out(escapeText(explanation(definitions, { type, fields, recursive: options.recursive })))
    })
  },
})

/**
 * First treat everything after the first dot as a field path, although a word such as `leases.v1.coordination.orch.io`
 * may instead name a type and its group.
 */
async function subjectOf(
  { types }: Session,
  path: string,
  apiVersion: string,
): Promise<{ type: DiscoveredType; fields: string[] }> {
  const [word = '', ...fields] = path.split('.').filter((part) => part !== '')
  const type = await types.typeNamed(word)
  if (apiVersion === '') return { type, fields }
  return { type: await types.ofKind(apiVersion, type.kind), fields }
}
