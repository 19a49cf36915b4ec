/** Flags of what is served: names, versions, features, and the ranges of Services. */

import { type ProfileName, profileNames } from '../../api/model/vendor.ts'
import { flag, UsageError } from '../../base/flags/flags.ts'
import { featureGateHelp, readFeatureGates } from './feature-gates.ts'
import { readPairs } from './pairs.ts'
import { readClusterRanges, readPortRange } from './service-pools.ts'

export const apiFlags = {
  profile: flag(
    'profile',
    'NAME',
    'orch',
    readProfile,
    `vendor names to serve: ${profileNames.join(' or ')}; kubectl and client-go need kubernetes. A store keeps the profile that it was created with`,
  ),
  runtimeConfig: flag(
    'runtime-config',
    'PAIRS',
    '',
    readPairs,
    'API versions and types to turn on or off, as GROUP/VERSION=false or GROUP/VERSION/TYPE=false, separated by commas; api/all, api/ga, api/beta and api/alpha stand for all versions of that stage',
  ),
  featureGates: flag(
    'feature-gates',
    'PAIRS',
    '',
    readFeatureGates,
    `features to turn on or off, as NAME=true or NAME=false, separated by commas. ${featureGateHelp}`,
  ),
  serviceClusterIpRange: flag(
    'service-cluster-ip-range',
    'RANGES',
    '10.0.0.0/24',
    readClusterRanges,
    'CIDR range of the cluster IPs of Services; or two ranges, one per IP family, separated by a comma, the primary one first',
  ),
  serviceNodePortRange: flag(
    'service-node-port-range',
    'RANGE',
    '30000-32767',
    readPortRange,
    'port range of the node ports of Services',
  ),
}

function readProfile(value: string): ProfileName {
  const known = profileNames.find((candidate) => candidate === value)
  if (known === undefined)
    throw new UsageError(`unknown profile ${JSON.stringify(value)}; known are ${profileNames.join(', ')}`)
  return known
}
