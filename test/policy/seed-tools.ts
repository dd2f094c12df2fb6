/**
 * The tools of seed 001, typed from its tables and not from the policy files, so that a test can hold one against the other.
 * @module
 */
import type { Access, Tool } from '../../src/policy/words.ts'

export const BUILTINS = ['Bash', 'Read', 'Write', 'Edit', 'Glob', 'Grep', 'WebSearch', 'WebFetch']
export const READ_ONLY_BUILTINS = ['Read', 'Glob', 'Grep', 'WebSearch', 'WebFetch']

const list = (connector: string, tools: string) => tools.split(' ').map((tool) => `mcp__${connector}__${tool}`)

export const NOTES = list(
  'memory',
  'memory_read memory_search memory_list memory_write memory_append memory_review memory_merge',
)
export const STANDING = list('memory', 'soul_update goals_update')
export const PROJECT = list('project', 'project_list project_read project_write project_append project_delete')
export const GOALS = list('goals', 'goals_status goals_ask goals_propose goals_note')
export const TRANSCRIPTS = list('transcripts', 'transcript_search transcript_read')
export const SKILLS = list('skills', 'load_skill read_skill_file')
export const TEAM = list('team', 'team_roster team_assign team_status team_result team_cancel')
export const SANDBOX = list('sandbox', 'bash read_file write_file')
export const BROWSER = list('browser', 'browse_text browse_screenshot list_logins start_login finish_login')
export const EGRESS = list('sandbox_egress', 'sandbox_allow_host')
export const PLATFORM = [
  ...NOTES,
  ...STANDING,
  ...PROJECT,
  ...GOALS,
  ...TRANSCRIPTS,
  ...SKILLS,
  ...TEAM,
  ...SANDBOX,
  ...BROWSER,
  ...EGRESS,
]

export const MAIL_READS = list(
  'agentmail',
  'agentmail_list_threads agentmail_search_threads agentmail_get_thread agentmail_list_messages agentmail_search_messages agentmail_get_message agentmail_get_attachment agentmail_whoami agentmail_list_drafts agentmail_get_draft',
)
export const MAIL_DRAFT = list('agentmail', 'agentmail_create_draft')
export const MAIL_SENDS = list(
  'agentmail',
  'agentmail_send_message agentmail_reply_to_message agentmail_forward_message agentmail_send_draft',
)
export const FIRECRAWL = list(
  'firecrawl',
  'firecrawl_account firecrawl_scrape firecrawl_search firecrawl_map firecrawl_crawl',
)
export const SHOPIFY_READS = list('shopify', 'shopify_shop_info shopify_search_products shopify_recent_orders')
export const SHOPIFY_GRAPHQL = list('shopify', 'shopify_admin_graphql')
export const CLOUDFLARE = list('cloudflare', 'docs search execute')

function tools(names: readonly string[], access: Access, grantable: boolean): Tool[] {
  return names.map((name) => ({ name, connector: name.split('__')[1]!, access, ask: false, grantable }))
}

/** All of these at once, as a brand's registry: more than any role holds. */
export const REGISTRY: Tool[] = [
  ...tools(PLATFORM, 'read', false),
  ...tools(MAIL_READS, 'read', true),
  ...tools(MAIL_DRAFT, 'write', false),
  ...tools(MAIL_SENDS, 'write', false),
  ...tools(FIRECRAWL, 'spend', true),
  ...tools(SHOPIFY_READS, 'read', true),
  ...tools(SHOPIFY_GRAPHQL, 'write', false),
  ...tools(CLOUDFLARE, 'read', false),
]
