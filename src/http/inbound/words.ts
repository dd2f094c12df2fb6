/**
 * Names of the inbound route.
 * @module
 */

/** Below it stands the secret of an address. */
export const INBOUND = '/inbound/agentmail'
/** The connection whose mail starts turns: the role's tools are named after it (policies/inbound-email.yaml). */
export const AGENTMAIL = 'agentmail'
