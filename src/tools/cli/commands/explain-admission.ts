/**
 * Implements `orchctl explain-admission -f`, which sends objects as a dry run and shows how admission treats them: the
 * admission plugins and webhooks that ran, their durations and verdicts, and the fields that each of them changed. The
 * dry run stores nothing.
 */

import { defined } from '../../../api/json/json.ts'
import { UsageError } from '../../../base/flags/flags.ts'
import { collectionPath, objectPath } from '../../../client/requests/resource-type.ts'
import { StatusError } from '../../../client/requests/status-error.ts'
import { fileFlags, type Subject, subjectOf } from '../arguments/subjects.ts'
import { inBulk } from '../changes/bulk.ts'
import { connectionFlags } from '../connection/connection-flags.ts'
import { singularName } from '../connection/find-type.ts'
import { type Session, withSession } from '../connection/session.ts'
import { type Manifest, readManifests } from '../manifests/manifest.ts'
import { Columns } from '../printers/columns.ts'
import { escapeLine } from '../printers/escape.ts'
import { defineCommand } from '../program/command.ts'

export const explainAdmissionCommand = defineCommand({
  name: 'explain-admission',
  forms: ['-f FILE [flags]'],
  about: `Show how admission plugins and webhooks would process objects. Nothing is stored.

You need permission to create \`admissionexplanations\` in the group ops, in addition to permission for the write.`,
  examples: ['orchctl explain-admission -f pod.yaml'],
  flags: { ...fileFlags, ...connectionFlags },
  run: async (context, { options, words }) => {
    if (words.length > 0) throw new UsageError(`unexpected argument ${JSON.stringify(words[0])}: specify files with -f`)
    if (options.filename.length === 0)
      throw new UsageError('no files specified: use -f to specify the files with the objects')
    const manifests = await readManifests(context, options)
    if (manifests.length === 0) throw new UsageError('no objects passed to explain-admission')
    await withSession(context, options, async (session) => {
      await inBulk(context, manifests, {
        // Treat each object as a type of its own, so that the dry runs are not concurrent.
        sortOf: (manifest) => manifest,
        done: 'explained',
        act: async (manifest) => await explain(session, await subjectOf(session, manifest)),
      })
    })
  },
})

interface Sent {
  readonly headers: { readonly [name: string]: string }
  /** The server's error if it rejected the dry run. Undefined if it accepted the object. */
  readonly refusal: StatusError | undefined
}

async function explain(session: Session, subject: Subject & Manifest): Promise<string> {
  const { type, name, object } = subject
  const title = `${singularName(type)}/${name.name || object.metadata.generateName}`
  const created = await send(session, { method: 'POST', path: collectionPath(type, name.namespace), object })
  const exists = created.refusal?.status.reason === 'AlreadyExists' && name.name !== ''
  const response = exists ? await replace(session, subject) : created
  const outcome = exists ? 'would be replaced' : 'would be created'
  const head = response.refusal === undefined ? outcome : `would be rejected: ${response.refusal.message}`
  const looks = JSON.parse(response.headers['admission-trace'] ?? '[]') as Look[]
  const lines = [
    escapeLine(`${title} ${head}`),
    '\n',
    lookLines(looks),
    ...policyLines(looks),
    ...changeLines(response),
  ]
  return lines.join('')
}

/**
 * Replaces an object in a dry run. If the file contains no resourceVersion, uses that of the live object, because some
 * kinds require a resourceVersion.
 */
async function replace(session: Session, { type, name, object }: Subject & Manifest): Promise<Sent> {
  const { client, context } = session
  const live = await client.get(type, name, { signal: context.signal })
  const { resourceVersion = live.metadata.resourceVersion } = object.metadata
  const next = { ...object, metadata: { ...object.metadata, ...defined({ resourceVersion }) } }
  return await send(session, { method: 'PUT', path: objectPath(type, name), object: next })
}

interface Request {
  readonly method: string
  readonly path: string
  readonly object: Manifest['object']
}

async function send({ client, context }: Session, { method, path, object }: Request): Promise<Sent> {
  let headers: Sent['headers'] = {}
  try {
    const response = await client.open({
      method,
      path,
      body: object,
      query: { dryRun: 'All' },
      signal: context.signal,
      headers: { 'explain-admission': 'true' },
      onHeaders: (answered) => {
        headers = answered
      },
    })
    for await (const _ of response.body);
    return { headers, refusal: undefined }
  } catch (error) {
    if (error instanceof StatusError && headers['admission-trace'] !== undefined) return { headers, refusal: error }
    throw error
  }
}

interface Look {
  readonly control?: string
  readonly webhook?: string
  readonly step?: string
  readonly ms?: number
  readonly said?: string
  readonly more?: number
  readonly policy?: {
    readonly name?: string
    readonly binding?: string
    readonly params?: string
    readonly expression?: string
    readonly variables?: { readonly [name: string]: string }
  }
}

/** Lists the calls to admission plugins and webhooks, but not the policies, which are listed separately. */
function lookLines(looks: readonly Look[]): string {
  const rows = looks
    .filter(({ policy }) => policy === undefined)
    .map(({ step = '', control = '', webhook = '-', ms = 0, said = '-', more }) =>
      more === undefined ? [step, control, webhook, `${ms}ms`, said] : ['', `and ${more} more`, '', '', ''],
    )
  return new Columns().lines([
    ['STEP', 'CONTROL', 'WEBHOOK', 'TIME', 'SAID'],
    ...rows.map((row) => row.map(escapeLine)),
  ])
}

/** Formats each policy evaluation, with the expression that decided it and the values of the policy's variables. */
function policyLines(looks: readonly Look[]): string[] {
  return looks.flatMap(({ policy, said = '' }) => {
    if (policy === undefined) return []
    const { name = '', binding = '', params, expression, variables = {} } = policy
    const parameters = params === undefined ? '' : `, parameters ${params}`
    return [
      `policy ${name}, binding ${binding}${parameters}: ${said}`,
      ...(expression === undefined ? [] : [`  decided by: ${expression}`]),
      ...Object.entries(variables).map(([variable, value]) => `  variables.${variable} = ${value}`),
    ].map((line) => `${escapeLine(line)}\n`)
  })
}

interface Change {
  readonly control?: string
  readonly fields?: readonly string[]
}

function changeLines({ headers }: Sent): string[] {
  const changes = JSON.parse(headers['admission-changes'] ?? '[]') as Change[]
  return changes
    .filter(({ control }) => control !== undefined)
    .map(({ control = '', fields = [] }) => `${escapeLine(`${control} changed ${fields.join(', ')}`)}\n`)
}
