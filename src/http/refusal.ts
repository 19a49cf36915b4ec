/** A 403 in the words that people know: who cannot do what to which resource, and where. */
import type { Decision, PathAttributes, Question, ResourceAttributes } from '../authz/authorizer.ts'
import { type ApiError, forbiddenError } from '../model/api-error.ts'

export function refusal({ user, attributes }: Question, { reason }: Decision): ApiError {
  const why = reason()
  const because = why === '' ? '' : `: ${why}`
  if (!attributes.resource) return forbiddenError(undefined, '', `${pathRefusal(user.name, attributes)}${because}`)
  const { group, plural, name } = attributes
  const full = group === '' ? plural : `${plural}.${group}`
  const named = name === '' ? full : `${full} "${name}"`
  return forbiddenError(
    { group, plural },
    name,
    `${named} is forbidden: ${resourceRefusal(user.name, attributes)}${because}`,
  )
}

function pathRefusal(user: string, { verb, path }: PathAttributes): string {
  return `forbidden: User "${user}" cannot ${verb} path "${path}"`
}

function resourceRefusal(user: string, attributes: ResourceAttributes): string {
  const { verb, group, plural, subresource, namespace } = attributes
  const what = subresource === '' ? plural : `${plural}/${subresource}`
  const scope = namespace === '' ? 'at the cluster scope' : `in the namespace "${namespace}"`
  return `User "${user}" cannot ${verb} resource "${what}" in API group "${group}" ${scope}`
}
