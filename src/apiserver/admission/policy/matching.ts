/**
 * Decides whether a policy or a binding applies to a request. The decision depends on rules, exclusion rules, object
 * names and selectors.
 */
import type { MatchResources, NamedRule } from '../../../api/kinds/admissionregistration/types/match-resources.ts'
import type { Lookup } from '../../../api/model/lookup.ts'
import { LabelMatcher, requirementsOf, type SelectorObject } from '../../../api/selectors/label-selector.ts'
import type { AdmissionRequest } from '../admission.ts'
import type { ObjectForm } from '../object-forms.ts'
import { ruleMatches } from '../webhook/rules.ts'
import { isSelected } from '../webhook/select-webhooks.ts'

/** The compiled match resources of a policy or binding. */
export interface Matcher {
  readonly rules: readonly NamedRule[]
  readonly excluded: readonly NamedRule[]
  readonly exact: boolean
  readonly namespaceSelector: LabelMatcher | undefined
  readonly objectSelector: LabelMatcher | undefined
}

/** Compiles the match resources of a policy or binding. */
export function matcherOf(resources: MatchResources = {}): Matcher {
  return {
    rules: resources.resourceRules ?? [],
    excluded: resources.excludeResourceRules ?? [],
    exact: resources.matchPolicy === 'Exact',
    namespaceSelector: selectorOf(resources.namespaceSelector),
    objectSelector: selectorOf(resources.objectSelector),
  }
}

function selectorOf(selector: SelectorObject = {}): LabelMatcher | undefined {
  const requirements = requirementsOf(selector)
  return requirements.length === 0 ? undefined : new LabelMatcher(requirements)
}

type RuledRequest = Pick<AdmissionRequest, 'operation' | 'forms' | 'subresource' | 'namespace' | 'name'>

/**
 * Returns the version of the resource that the rules match: the version of the request, or else the first other version
 * that a rule names. Returns undefined if no rule matches.
 */
export function formFor(
  { rules, exact }: Pick<Matcher, 'rules' | 'exact'>,
  request: RuledRequest,
  names: 'check names' | 'any name' = 'check names',
): ObjectForm | undefined {
  const { operation, forms, subresource, namespace, name } = request
  const matches = (rule: NamedRule, { resource }: ObjectForm) =>
    ruleMatches(rule, { operation, resource, subresource, namespaced: namespace !== '' }) &&
    (names === 'any name' || (rule.resourceNames ?? []).length === 0 || rule.resourceNames!.includes(name))
  if (rules.some((rule) => matches(rule, forms.requested))) return forms.requested
  if (exact) return undefined
  for (const rule of rules) {
    const form = forms.others.find((other) => matches(rule, other))
    if (form !== undefined) return form
  }
  return undefined
}

/**
 * Returns the version of the resource that the rules match. Returns undefined if an exclusion rule or a selector
 * excludes the request.
 */
export async function matchedForm(
  matcher: Matcher,
  request: AdmissionRequest,
  lookup: Lookup,
): Promise<ObjectForm | undefined> {
  const { rules, excluded, exact } = matcher
  if (excluded.length > 0 && formFor({ rules: excluded, exact }, request) !== undefined) return undefined
  // A binding without rules applies to all requests of its policy.
  const form = rules.length === 0 ? request.forms.requested : formFor(matcher, request)
  return form !== undefined && (await isSelected(matcher, request, lookup)) ? form : undefined
}
