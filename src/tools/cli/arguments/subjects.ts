/**
 * Selects the objects of a command: objects in files (`-f`), objects by name (`TYPE NAME...` or `TYPE/NAME...`), or all
 * objects of some types that match a selector (`TYPE -l a=b`, `TYPE --all`), in one or all namespaces (`-A`).
 */

import type { ApiObject } from '../../../api/model/object.ts'
import { flag, type OptionsOf, repeated, text, toggle, UsageError } from '../../../base/flags/flags.ts'
import type { DiscoveredType } from '../../../client/requests/discovery.ts'
import type { ObjectName } from '../../../client/requests/resource-type.ts'
import { objectNameIn, objectNameOf, type Session } from '../connection/session.ts'
import type { Manifest, Origin } from '../manifests/manifest.ts'
import type { FileName } from '../manifests/source.ts'
import { readCount } from './numbers.ts'
import { readTargetWords, type TargetWord } from './targets.ts'

export const fileFlags = {
  filename: repeated<FileName>({
    name: 'filename',
    letter: 'f',
    value: 'FILE',
    read: text,
    help: 'file, directory or URL to read objects from; - reads standard input',
  }),
  recursive: toggle({ name: 'recursive', letter: 'R', help: 'read directories recursively' }),
  kustomize: flag({
    name: 'kustomize',
    letter: 'k',
    value: 'DIR',
    read: text,
    help: 'directory with a kustomization.yaml, instead of -f',
  }),
}

export const subjectFlags = {
  ...fileFlags,
  selector: flag({
    name: 'selector',
    letter: 'l',
    value: 'SELECTOR',
    read: text,
    help: "label selector, such as app=web,tier!=cache or 'env in (dev,test)'",
  }),
  fieldSelector: flag({
    name: 'field-selector',
    value: 'SELECTOR',
    read: text,
    help: 'field selector, such as metadata.name=web',
  }),
  all: toggle({ name: 'all', help: 'select all objects of the given type' }),
  allNamespaces: toggle({ name: 'all-namespaces', letter: 'A', help: 'select objects in all namespaces' }),
}

export const chunkSizeFlag = flag({
  name: 'chunk-size',
  value: 'NUMBER',
  default: '500',
  read: readCount,
  help: 'number of objects to fetch per list request; 0 fetches all objects in one request',
})

export type SubjectOptions = Omit<OptionsOf<typeof subjectFlags>, 'kustomize'> & { readonly chunkSize?: number }

/** An object that a command operates on, such as one that it deletes. */
export interface Subject {
  readonly type: DiscoveredType
  readonly name: ObjectName
  /** The live object if the object was found by a list request. Otherwise, the object from the file. */
  readonly object?: ApiObject
  /** Position in the file. Set if the object comes from a file. */
  readonly origin?: Origin
}

/** Finds the selected objects. Throws UsageError for invalid arguments, before contacting the server if possible. */
export async function findSubjects(
  session: Session,
  words: readonly string[],
  options: SubjectOptions,
): Promise<Subject[]> {
  if (options.filename.length > 0) return await fromFiles(session, words, options)
  const targetWords = readTargetWords(words)
  const hasName = targetWords.some(({ name }) => name !== undefined)
  checkSelection(options, { hasName })
  return hasName ? await byName(session, targetWords) : await bySelection(session, targetWords, options)
}

function checkSelection(
  { selector, fieldSelector, all, allNamespaces }: SubjectOptions,
  { hasName }: { hasName: boolean },
): void {
  const selects = selector !== '' || fieldSelector !== ''
  if (hasName && selects) throw new UsageError('name cannot be provided when a selector is specified')
  if (hasName && all) throw new UsageError('names and --all are mutually exclusive')
  if (hasName && allNamespaces) throw new UsageError('a resource cannot be retrieved by name across all namespaces')
  if (all && selects) throw new UsageError('setting both --all and a selector is not allowed')
  if (!hasName && !selects && !all)
    throw new UsageError(
      'resource(s) were provided, but no name was specified: specify names, or select objects with -l or --all',
    )
}

async function fromFiles(session: Session, words: readonly string[], options: SubjectOptions): Promise<Subject[]> {
  if (words.length > 0)
    throw new UsageError(
      'when paths, URLs, or stdin is provided as input, you may not specify resource arguments as well',
    )
  const { readManifests } = await import('../manifests/manifest.ts')
  return await subjectsOf(session, await readManifests(session.context, options))
}

/** Returns the objects in files, with their types and effective namespaces. */
export async function subjectsOf(session: Session, manifests: readonly Manifest[]): Promise<(Subject & Manifest)[]> {
  return await Promise.all(manifests.map((manifest) => subjectOf(session, manifest)))
}

/**
 * Returns the object in a manifest with its type and effective namespace. Throws UsageError, or UnknownKindError if the
 * server does not serve the kind.
 */
export async function subjectOf(session: Session, { object, origin }: Manifest): Promise<Subject & Manifest> {
  const type = await session.types.ofKind(object.apiVersion, object.kind)
  const { namespace: own, ...metadata } = object.metadata
  const name = metadata.name ?? ''
  if (!type.namespaced) return { type, name: { name }, object: { ...object, metadata }, origin }
  if (own && session.namespaceGiven && own !== session.namespace)
    throw new UsageError(
      `the namespace from the provided object ${JSON.stringify(own)} does not match the namespace ${JSON.stringify(session.namespace)}. You must pass '--namespace=${own}' to perform this operation.`,
    )
  const namespace = own || session.namespace
  return { type, name: { namespace, name }, object: { ...object, metadata: { ...object.metadata, namespace } }, origin }
}

async function byName(session: Session, targetWords: readonly TargetWord[]): Promise<Subject[]> {
  if (targetWords.some(({ name }) => name === undefined))
    throw new UsageError('resource(s) were provided, but no name was specified')
  return await Promise.all(
    targetWords.map(async ({ type: word, name }) => {
      const type = await session.types.typeNamed(word)
      return { type, name: objectNameIn(session, type, name!) }
    }),
  )
}

async function bySelection(
  session: Session,
  targetWords: readonly TargetWord[],
  options: SubjectOptions,
): Promise<Subject[]> {
  const types = (await Promise.all(targetWords.map(({ type }) => session.types.namedAll(type)))).flat()
  const subjects: Subject[] = []
  for (const type of new Set(types)) {
    const limit = options.chunkSize === undefined ? {} : { limit: options.chunkSize }
    const { items } = await session.client.list(type, { ...selectionOf(session, type, options), ...limit })
    for (const object of items) subjects.push({ type, name: objectNameOf(type, object), object })
  }
  return subjects
}

/** Returns list options for the flags `--selector`, `--field-selector` and `--all-namespaces`. */
export function selectionOf(
  { context, namespace }: Session,
  { namespaced }: DiscoveredType,
  options: Pick<SubjectOptions, 'allNamespaces' | 'selector' | 'fieldSelector'>,
) {
  return {
    ...(namespaced && !options.allNamespaces ? { namespace } : {}),
    ...(options.selector === '' ? {} : { labelSelector: options.selector }),
    ...(options.fieldSelector === '' ? {} : { fieldSelector: options.fieldSelector }),
    signal: context.signal,
  }
}
