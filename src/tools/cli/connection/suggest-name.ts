/** Suggests an existing name that is similar to the name of a missing object. */
import { closestMatch, maxTypos } from '../../../base/flags/flags.ts'
import type { DiscoveredType } from '../../../client/requests/discovery.ts'
import { isNotFound, StatusError } from '../../../client/requests/status-error.ts'
import type { Session } from './session.ts'

/** Maximum number of names to compare. Larger collections are not searched. */
const maxNames = 500

/**
 * Adds a suggestion to a NotFound error if an object with a similar name exists. Returns all other errors unchanged.
 */
export async function withNameSuggestion(
  session: Session,
  {
    type,
    name,
    namespace = session.namespace,
  }: { readonly type: DiscoveredType; readonly name?: string | undefined; readonly namespace?: string | undefined },
  error: unknown,
): Promise<unknown> {
  if (!isNotFound(error) || !(error instanceof StatusError) || name === undefined) return error
  const place = type.namespaced ? { namespace } : {}
  const { value: page } = await session.client
    .pages(type, { ...place, limit: maxNames, signal: session.context.signal })
    .next()
    // Users without permission to list objects get no suggestion.
    .catch((listError: unknown) => {
      if (listError instanceof StatusError) return { value: undefined }
      throw listError
    })
  const names: string[] =
    page?.items.flatMap(({ metadata }: { metadata: { name?: string } }) => metadata.name ?? []) ?? []
  const near = closestMatch(name, names, maxTypos(name))
  if (near === undefined) return error
  const message = `${error.message}; did you mean ${JSON.stringify(near)}?`
  return new StatusError({ ...error.status, message }, error.request)
}
