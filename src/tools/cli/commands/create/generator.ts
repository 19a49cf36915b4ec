/**
 * Defines commands of the form `orchctl create KIND NAME`, which build an object from flags and then create it, or only
 * print it (`--dry-run=client -o yaml`). Printing needs no server unless the object contains the vendor's domain, for
 * example in the API groups of a role.
 */

import { groupOf } from '../../../../api/model/api-version.ts'
import { type ApiObject, asJson, type ObjectMeta } from '../../../../api/model/object.ts'
import type { Vendor } from '../../../../api/model/vendor.ts'
import { type Flags, type OptionsOf, toggle, UsageError } from '../../../../base/flags/flags.ts'
import { inDomainOf, type ResourceType, typed } from '../../../../client/requests/resource-type.ts'
import { type NoteOptions, saveConfigFlag, withNotes } from '../../changes/change-cause.ts'
import { withTypedSession } from '../../changes/remove-nulls.ts'
import {
  fieldValidation,
  report,
  requestOptions,
  validateFlag,
  type WritingOptions,
  writeFlags,
} from '../../changes/report-write.ts'
import { connectionFlags } from '../../connection/connection-flags.ts'
import type { Session } from '../../connection/session.ts'
import { type Command, type Context, defineCommand } from '../../program/command.ts'

/** Flags shared by all `orchctl create KIND` commands. */
export const creationFlags = { ...writeFlags, saveConfig: saveConfigFlag, validate: validateFlag }

export type CreationOptions = WritingOptions &
  NoteOptions & { readonly validate?: OptionsOf<typeof creationFlags>['validate'] }

export interface Generator<F extends Flags> {
  /** The words after `orchctl create`, such as `configmap` or `secret generic`. */
  readonly name: string
  /** Arguments after the object name, for the usage line. */
  readonly form?: string
  readonly about: string
  readonly examples: readonly string[]
  readonly flags: F
  readonly type: ResourceType
  /** Returns the object to create, without apiVersion, kind and name. */
  readonly make: (
    options: OptionsOf<F>,
    invocation: Invocation,
  ) => Omit<Made, 'metadata'> | Promise<Omit<Made, 'metadata'>>
}

export interface Made {
  readonly metadata?: ObjectMeta
  readonly [field: string]: unknown
}

export interface Invocation {
  readonly context: Context
  readonly name: string
  /** Arguments that follow the object name. */
  readonly words: readonly string[]
  /** Namespace in which to create the object. */
  readonly namespace: string
  /** Returns the vendor whose names the server uses. */
  readonly vendor: () => Promise<Vendor>
  readonly session: Session
}

export function defineGenerator<F extends Flags>(generator: Generator<F>): Command {
  const flags = { ...generator.flags, ...creationFlags, ...connectionFlags }
  return defineCommand({
    name: `create ${generator.name}`,
    forms: [`NAME ${generator.form ?? '[flags]'}`],
    about: generator.about,
    examples: generator.examples,
    flags,
    run: async (context, { options, words }) => {
      const [name = '', ...rest] = words
      if (name === '') throw new UsageError('exactly one NAME is required, got none')
      if (rest.length > 0 && generator.form?.includes('--') !== true)
        throw new UsageError(`exactly one NAME is required, got ${words.length}`)
      const writing = options as unknown as CreationOptions
      await withTypedSession(context, options as unknown as OptionsOf<typeof connectionFlags>, async (session) => {
        const vendor = () => session.types.vendor()
        const invocation = { context, name, words: rest, namespace: session.namespace, vendor, session }
        const generated = await generator.make(options as unknown as OptionsOf<F>, invocation)
        const object = await withHash(
          await objectOf(generator, invocation, generated),
          options as { readonly appendHash?: unknown },
        )
        context.out(await createObject(session, object, { options: writing }))
      })
    },
  })
}

/** A flag that makes the name of a ConfigMap or Secret depend on its content. */
export const appendHashFlag = toggle({
  name: 'append-hash',
  help: 'append a hash of the contents to the name of the object',
})

async function withHash(
  object: ApiObject,
  { appendHash = false }: { readonly appendHash?: unknown },
): Promise<ApiObject> {
  if (appendHash !== true) return object
  const [{ nameHash }, { Resource }] = await Promise.all([
    import('../../kustomize/name-hash.ts'),
    import('../../kustomize/resource.ts'),
  ])
  const name = `${object.metadata.name}-${nameHash(new Resource(asJson(object), ''))}`
  return { ...object, metadata: { ...object.metadata, name } }
}

async function objectOf<F extends Flags>(
  { type }: Generator<F>,
  { name, session, vendor }: Invocation,
  generated: Made,
): Promise<ApiObject> {
  const served = type.inServerDomain ? inDomainOf(await vendor(), type) : type
  const namespace = type.namespaced && session.namespaceGiven ? { namespace: session.namespace } : {}
  return typed(served, { ...generated, metadata: { ...generated.metadata, name, ...namespace } })
}

/** Creates the object, unless this is a client-side dry run. Returns the text to print. */
export async function createObject(
  session: Session,
  object: ApiObject,
  { options, done = 'created', index = 0 }: { options: CreationOptions; done?: string; index?: number },
): Promise<string> {
  const objectType = { kind: object.kind, group: groupOf(object.apiVersion) }
  if (options.dryRun === 'client')
    return await report(options, { type: objectType, object: await withNotes(session, object, options), done, index })
  const type = await session.types.ofKind(object.apiVersion, object.kind)
  const placed = type.namespaced
    ? { ...object, metadata: { namespace: session.namespace, ...object.metadata } }
    : object
  const created = await session.client.create(type, await withNotes(session, placed, options), {
    ...requestOptions(session, options),
    ...(options.validate && { fieldValidation: fieldValidation(options.validate) }),
  })
  return await report(options, { type, object: created, done, index })
}
