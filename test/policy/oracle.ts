/**
 * What seed 001 gives to whom, written again from its text, to hold the gateway against. It shares nothing with `src/policy`:
 * there a role is a list of patterns and a view is compiled; here each tool has a row that says whose it is, and a question
 * is answered by reading its row.
 * @module
 */

export type Who = 'person-chat' | 'inbound-email' | 'coworker' | 'specialist' | 'goal-agent' | 'goal-reviewer'

/** A tool of the operator's own MCP upstreams, which the seed does not know: only its access, and what the operator says. */
export interface Foreign {
  readonly name: string
  readonly access: 'read' | 'write' | 'spend'
  readonly ask: boolean
  readonly grantable: boolean
}

/** One session of one brand, in the seed's words. */
export interface Situation {
  readonly who: Who
  readonly readOnlyRoute: boolean
  /** What its profile or its token asks for: full names, and `mcp__x__*` for all that x offers. */
  readonly asks: readonly string[]
  readonly granted: readonly string[]
  readonly skills: readonly string[]
  readonly depth: number
  /** Somebody can be asked. */
  readonly channel: boolean
  /** `REQUIRE_WRITE_APPROVAL`. */
  readonly approvals: boolean
  readonly githubWrites: boolean
  readonly shopifyWrites: boolean
  /** Names of tools whose servers are built for this brand. */
  readonly built: readonly string[]
  readonly foreign: readonly Foreign[]
}

export type Answer = 'not there' | 'runs' | 'asks' | 'refuses'

/** How a specialist comes by it; `profile` is the plain coworker's way. */
type Way = 'never' | 'profile' | 'reads' | 'joint' | 'by name' | 'skill tool' | 'brief' | 'hand-off'
type Gate = 'free' | 'each call' | 'mutation' | 'github' | 'standing'

interface Row {
  readonly name: string
  readonly server: string
  /** A letter per role that may hold it: p person, i inbound email, c coworker, g goal agent; r: a read-only route keeps it. */
  readonly whose: string
  readonly specialist: Way
  readonly gate: Gate
  /** Whether it is simply not there when nobody can be asked. */
  readonly goneUnasked: boolean
}

const rows = new Map<string, Row>()

function row(server: string, names: string, whose: string, specialist: Way, gate: Gate = 'free', goneUnasked = false) {
  for (const each of names.split(' ')) {
    const name = server === '' ? each : `mcp__${server}__${each}`
    rows.set(name, { name, server, whose, specialist, gate, goneUnasked })
  }
}

row('', 'Bash Write Edit', 'pc', 'profile')
row('', 'Read Glob Grep WebSearch WebFetch', 'pcgr', 'profile')

row('memory', 'memory_read memory_search memory_list memory_write memory_append memory_review', 'pc', 'profile')
row('memory', 'memory_merge', 'pc', 'profile')
row('memory', 'soul_update goals_update', 'p', 'never', 'standing', true)
row('project', 'project_list project_read project_write', 'pcg', 'profile')
row('project', 'project_append', 'pc', 'profile')
row('project', 'project_delete', 'p', 'never')
row('goals', 'goals_status goals_ask goals_propose goals_note', 'p', 'never')
row('transcripts', 'transcript_search transcript_read', 'pr', 'never')
row('skills', 'load_skill read_skill_file', 'pr', 'skill tool')
row('team', 'team_roster team_assign team_status team_result team_cancel', 'pr', 'never')
row('sandbox', 'bash read_file write_file', 'p', 'never')
row('browser', 'browse_text browse_screenshot list_logins start_login finish_login', 'p', 'never')
row('sandbox_egress', 'sandbox_allow_host', 'p', 'never', 'each call', true)

row('shopify', 'shopify_shop_info shopify_search_products shopify_recent_orders', 'p', 'reads')
row('shopify', 'shopify_admin_graphql', 'p', 'never', 'mutation')
row('dataforseo', 'dataforseo_account dataforseo_keyword_ideas dataforseo_search_volume', 'p', 'reads')
row('dataforseo', 'dataforseo_keyword_overview dataforseo_ranked_keywords dataforseo_serp_organic', 'p', 'reads')
row('dataforseo', 'dataforseo_competitors dataforseo_page_audit dataforseo_keyword_difficulty', 'p', 'reads')
row('dataforseo', 'dataforseo_search_intent dataforseo_rank_history dataforseo_trends', 'p', 'reads')
row('dataforseo', 'seo_page_opportunities', 'p', 'joint')
row('firecrawl', 'firecrawl_account firecrawl_scrape firecrawl_search firecrawl_map firecrawl_crawl', 'p', 'reads')
row('googleads', 'googleads_accounts googleads_report googleads_campaigns googleads_search_terms', 'p', 'reads')
row('googleads', 'googleads_account_hierarchy googleads_compare_periods googleads_summarize', 'p', 'reads')
row('googleads', 'googleads_search_term_audit', 'p', 'reads')
row('searchconsole', 'searchconsole_properties searchconsole_totals searchconsole_queries', 'p', 'reads')
row('searchconsole', 'searchconsole_pages searchconsole_breakdown searchconsole_inspect_url', 'p', 'reads')
row('analytics', 'analytics_properties analytics_overview analytics_trend analytics_traffic_sources', 'p', 'reads')
row('analytics', 'analytics_landing_pages analytics_report', 'p', 'reads')
row('analytics', 'analytics_use_property', 'p', 'never')
row('sheets', 'sheets_list', 'p', 'reads')
row('sheets', 'sheets_export sheets_append', 'p', 'never', 'each call')
row('microsoftads', 'microsoftads_accounts microsoftads_campaigns microsoftads_performance_report', 'p', 'reads')
row('microsoftads', 'microsoftads_report_fetch', 'p', 'reads')
row('figma', 'figma_whoami figma_file_outline figma_read_nodes figma_export_images figma_comments', 'p', 'reads')
row('figma', 'figma_components_styles figma_team_projects figma_project_files', 'p', 'reads')
row('github', 'github_read_file github_list_path github_list_branches github_list_issues', 'p', 'reads')
row('github', 'github_read_issue github_list_pull_requests github_read_pull_request', 'p', 'reads')
row(
  'github',
  'github_create_branch github_commit_files github_open_pull_request github_comment',
  'p',
  'never',
  'github',
)
row('agentmail', 'agentmail_list_threads agentmail_search_threads agentmail_get_thread', 'pi', 'reads')
row('agentmail', 'agentmail_list_messages agentmail_search_messages agentmail_get_message', 'pi', 'reads')
row('agentmail', 'agentmail_get_attachment agentmail_whoami agentmail_list_drafts agentmail_get_draft', 'pi', 'reads')
row('agentmail', 'agentmail_create_draft', 'pi', 'never')
row('agentmail', 'agentmail_send_message agentmail_reply_to_message', 'p', 'never', 'each call')
row('agentmail', 'agentmail_forward_message agentmail_send_draft', 'p', 'never', 'each call')
row('cloudflare', 'docs search', 'p', 'never')
row('cloudflare', 'execute', 'p', 'never', 'each call', true)
row('railway', 'railway_workspaces railway_project railway_deployments railway_variable_names', 'p', 'reads')
row('railway', 'railway_logs', 'p', 'reads')
row('railway', 'railway_reveal_variables railway_redeploy', 'p', 'never', 'each call', true)
row('tailscale', 'tailscale_devices tailscale_device tailscale_users tailscale_policy tailscale_dns', 'p', 'reads')
row('writer', 'writer_read_voice_guide writer_save_voice_guide writer_page_content', '', 'by name')
row('writer', 'writer_read_brief writer_save_draft', '', 'by name')
row('seo', 'seo_save_brief', '', 'brief')
row('seo', 'seo_hand_off_brief', '', 'hand-off')

/** Every name of the seed, the harness's own among them. */
export const ALL_NAMES: readonly string[] = [...rows.keys()]

/** "no connector": what a session on a read-only route is handed no credentials for. */
const READ_ONLY_SERVERS = ['', 'transcripts', 'skills', 'team']

const LETTER: Record<Who, string> = {
  'person-chat': 'p',
  'inbound-email': 'i',
  coworker: 'c',
  specialist: '',
  'goal-agent': 'g',
  'goal-reviewer': '',
}

/** Whether the session has been given the tool: what `tools/list` and the harness's own list must show. */
export function isGiven(name: string, s: Situation): boolean {
  const known = rows.get(name)
  if (known === undefined) return isForeignGiven(name, s)
  if (known.server !== '' && !s.built.includes(name)) return false
  if (!isAskedFor(name, known.server, s)) return false
  if (s.readOnlyRoute && !(known.whose.includes('r') && READ_ONLY_SERVERS.includes(known.server))) return false
  if (known.goneUnasked && !somebody(s) && !(known.gate === 'standing' && !s.approvals && s.channel)) return false
  switch (s.who) {
    case 'goal-reviewer':
      return false
    case 'specialist':
      return specialistGets(known, s)
    case 'goal-agent':
      return known.whose.includes('g') || (['reads', 'joint'].includes(known.specialist) && specialistGets(known, s))
    default:
      return known.whose.includes(LETTER[s.who])
  }
}

/** What a call of it meets. `mutation`: its arguments would change something at the vendor (Shopify's GraphQL alone). */
export function answer(name: string, s: Situation, mutation = false): Answer {
  if (!isGiven(name, s)) return 'not there'
  const asked: Answer = somebody(s) ? 'asks' : 'refuses'
  const known = rows.get(name)
  if (known === undefined) {
    const foreign = s.foreign.find((one) => one.name === name)!
    return foreign.ask || foreign.access === 'write' ? asked : 'runs'
  }
  switch (known.gate) {
    case 'free':
      return 'runs'
    case 'standing':
      return s.approvals ? asked : 'runs'
    case 'mutation':
      if (!mutation) return 'runs'
      return s.shopifyWrites ? asked : 'refuses'
    case 'github':
      return s.githubWrites ? asked : 'refuses'
    case 'each call':
      return asked
  }
}

/** An approval channel: only a person's chat has one, and the operator can switch approvals off for all. */
function somebody(s: Situation): boolean {
  return s.who === 'person-chat' && s.channel && s.approvals
}

function isAskedFor(name: string, server: string, s: Situation): boolean {
  return s.asks.includes(name) || (server !== '' && s.asks.includes(`mcp__${server}__*`))
}

/** The five steps of "Specialist coworker run", and the coworker's own ceiling before them. */
function specialistGets(known: Row, s: Situation): boolean {
  const live = (server: string) =>
    s.granted.includes(server) && s.built.some((one) => one.startsWith(`mcp__${server}__`))
  switch (known.specialist) {
    case 'never':
      return false
    case 'profile':
      return true
    case 'reads':
      return live(known.server)
    case 'joint':
      return live('dataforseo') && live('searchconsole') && live('shopify')
    case 'by name':
      return live('shopify') && s.asks.includes(known.name)
    case 'skill tool':
      return s.skills.length > 0
    case 'brief':
      return s.skills.includes('seo-method')
    case 'hand-off':
      return s.skills.includes('seo-method') && s.depth > 0
  }
}

function isForeignGiven(name: string, s: Situation): boolean {
  const tool = s.foreign.find((one) => one.name === name)
  if (tool === undefined || s.readOnlyRoute) return false
  const server = name.split('__')[1]!
  if (!isAskedFor(name, server, s)) return false
  if (s.who === 'person-chat') return true
  const reads = tool.grantable && tool.access !== 'write'
  return (s.who === 'specialist' || s.who === 'goal-agent') && reads && s.granted.includes(server)
}
