/**
 * Decides whether a policy or a binding applies to a request. The decision depends on rules, exclusion rules, object
 * names and selectors.
 */
import type { MatchResources, NamedRule } from '../../../api/kinds/admissionregistration/types/match-resources.ts'
import {
  LabelMatcher,
  type Labels,
  requirementsOf,
  type SelectorObject,
} from '../../../api/selectors/label-selector.ts'
import type { AdmissionRequest } from '../admission.ts'
import type { ObjectForm } from '../object-forms.ts'
import { ruleMatches } from '../webhook/rules.ts'

/** The match criteria of a policy or binding, with compiled selectors. */
export interface Matcher {
  readonly rules: readonly NamedRule[]
  readonly excluded: readonly NamedRule[]
  readonly exact: boolean
  readonly namespaceSelector: LabelMatcher | undefined
  readonly objectSelector: LabelMatcher | undefined
}

/** The matcher of bindings without match resources. Thousands of bindings share it. */
const everything: Matcher = {
  rules: [],
  excluded: [],
  exact: false,
  namespaceSelector: undefined,
  objectSelector: undefined,
}

/** Prepares the `matchConstraints` of a policy or the `matchResources` of a binding for matching. */
export function matcherOf(resources: MatchResources | undefined): Matcher {
  if (resources === undefined) return everything
  return {
    rules: resources.resourceRules ?? everything.rules,
    excluded: resources.excludeResourceRules ?? everything.excluded,
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
 * Returns the version of the resource that the rules match: the version of the request if a rule names it, and
 * otherwise the first other version that a rule names. Returns undefined if no rule matches.
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

/** The labels to compare with the selectors of policies and bindings. */
export interface SelectedLabels {
  /** Labels of the namespace. Undefined if namespace selectors do not apply to the request. */
  readonly namespace: Labels
  /** Labels of the new object and of the old one. A selector needs to match only one of them. */
  readonly objects: readonly Labels[]
}

/**
 * Returns the version of the resource that the rules match. Returns undefined if an exclusion rule or a selector
 * excludes the request.
 */
export function matchedForm(
  matcher: Matcher,
  request: RuledRequest,
  { namespace, objects }: SelectedLabels,
): ObjectForm | undefined {
  const { rules, excluded, exact, namespaceSelector, objectSelector } = matcher
  if (excluded.length > 0 && formFor({ rules: excluded, exact }, request) !== undefined) return undefined
  if (objectSelector !== undefined && !objects.some((labels) => objectSelector.matches(labels))) return undefined
  if (namespaceSelector !== undefined && namespace !== undefined && !namespaceSelector.matches(namespace))
    return undefined
  // A binding without rules matches all requests that its policy matches.
  return rules.length === 0 ? request.forms.requested : formFor(matcher, request)
}
