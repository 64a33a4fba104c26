/* The one list of everything that can be lost, guessed or corrected on the way to an answer. */
#ifndef CULPRIT_MODEL_LOSS_H
#define CULPRIT_MODEL_LOSS_H

#include <stdbool.h>
#include <stdint.h>

/* name as scripts see it, then as people read it: of one, and of several ("3 lines without …") */
#define LOSSES(X) \
	X(LOSS_FILES_UNREADABLE, "files_unreadable", "file that could not be read", \
	  "files that could not be read") \
	X(LOSS_FILES_UNKNOWN, "files_of_unknown_kind", "file of no known kind, skipped", \
	  "files of no known kind, skipped") \
	X(LOSS_FILES_NO_TIME, "files_without_time", \
	  "text file that shows no time (kept as one event)", \
	  "text files that show no time (each kept as one event)") \
	X(LOSS_FILES_EMPTY, "files_empty", "empty file", "empty files") \
	X(LOSS_FILES_CUT, "files_cut_short", "file that ends in the middle (used up to there)", \
	  "files that end in the middle (used up to there)") \
	X(LOSS_LOGS_GONE, "logs_gone", "log that was followed and is gone, with what it held", \
	  "logs that were followed and are gone, with what they held") \
	X(LOSS_LOGS_BINARY, "logs_binary", "file named like a log that holds no text (left out)", \
	  "files named like logs that hold no text (left out)") \
	X(LOSS_LOG_BYTES_BEFORE, "log_bytes_before", \
	  "byte of a log from before it was followed, too far back to be read", \
	  "bytes of logs from before they were followed, too far back to be read") \
	X(LOSS_EPOCHS_UNSENT, "epochs_unsent", \
	  "message of a host that was given up, as too many waited for the hub", \
	  "messages of hosts that were given up, as too many waited for the hub") \
	X(LOSS_EPOCHS_MISSING, "epochs_missing", "message of a host that did not arrive (yet)", \
	  "messages of hosts that did not arrive (yet)") \
	X(LOSS_EPOCHS_DAMAGED, "epochs_damaged", \
	  "message that was refused, being cut, damaged or too long", \
	  "messages that were refused, being cut, damaged or too long") \
	X(LOSS_JOURNALS_GONE, "journals_gone", \
	  "file of the hub's journal that was given up for want of room, with what it held", \
	  "files of the hub's journal that were given up for want of room, with what they held") \
	X(LOSS_JARS_BROKEN, "jars_unreadable", "jar that could not be read", \
	  "jars that could not be read") \
	X(LOSS_PROGRAMS_BROKEN, "programs_unreadable", \
	  "program file that could not be read, being damaged or too large", \
	  "program files that could not be read, being damaged or too large") \
	X(LOSS_PROGRAMS_UNKNOWN, "programs_of_unknown_kind", \
	  "program file of no known kind, of which every printable text was taken", \
	  "program files of no known kind, of which every printable text was taken") \
	X(LOSS_STRINGS_LEFT, "program_strings_left_out", \
	  "constant string of a program left out, being too long or one too many", \
	  "constant strings of programs left out, being too long or too many") \
	X(LOSS_CLASSES_BROKEN, "classes_unreadable", \
	  "class that could not be read, being damaged or too large", \
	  "classes that could not be read, being damaged or too large") \
	X(LOSS_CLASSES_TWICE, "classes_twice", \
	  "class given a second time, of which the first counts", \
	  "classes given a second time, of which the first counts") \
	X(LOSS_ATTRIBUTES_BROKEN, "class_attributes_damaged", \
	  "attribute of a class that could not be read", \
	  "attributes of classes that could not be read") \
	X(LOSS_METHODS_BROKEN, "methods_damaged", "method whose code makes no sense", \
	  "methods whose code makes no sense") \
	X(LOSS_CALLS_WIDE, "calls_with_many_targets", \
	  "call that may lead to so many methods that it was left out", \
	  "calls that may lead to so many methods that they were left out") \
	X(LOSS_CHANNELS_WIDE, "channels_with_many_ends", \
	  "place of communication that so much leads to that it was left out", \
	  "places of communication that so much leads to that they were left out") \
	X(LOSS_SUPERS_MISSING, "supers_missing", \
	  "reference to a class or interface above that is not given", \
	  "references to classes or interfaces above that are not given") \
	X(LOSS_LINES_NO_TIME, "lines_without_time", \
	  "line without a time, before the first line that has one (kept)", \
	  "lines without a time, before the first line that has one (kept)") \
	X(LOSS_LINES_BROKEN, "lines_broken", "line that does not fit the layout of its file", \
	  "lines that do not fit the layout of their file") \
	X(LOSS_LINES_CUT, "lines_cut", \
	  "line longer than a line may be, of which only the front was read", \
	  "lines longer than a line may be, of which only the front was read") \
	X(LOSS_NAMES_LEFT, "lines_with_names_left_out", \
	  "line that names more than is looked at to find its request (kept)", \
	  "lines that name more than is looked at to find their requests (kept)") \
	X(LOSS_LINES_WORDS_LEFT, "lines_with_words_left_out", \
	  "line with more words that may be names than are looked at to find its request (kept)", \
	  "lines with more words that may be names than are looked at to find their requests " \
	  "(kept)") \
	X(LOSS_IDENTIFIERS_LEFT, "lines_with_identifiers_left_out", \
	  "line that names more than is looked at to find objects", \
	  "lines that name more than is looked at to find objects") \
	X(LOSS_WORK_NAMES_LEFT, "work_with_names_left_out", \
	  "piece of work that names more than is looked at to find its request (kept)", \
	  "pieces of work that name more than is looked at to find their requests (kept)") \
	X(LOSS_WORDS_LEFT, "words_not_weighed", \
	  "word that was not looked at as a name, there being too many", \
	  "words that were not looked at as names, there being too many") \
	X(LOSS_ORDERS_LEFT, "methods_without_order", \
	  "method of the program whose order of statements is too large to be used", \
	  "methods of the program whose order of statements is too large to be used") \
	X(LOSS_LINES_NOT_UTF8, "lines_not_utf8", "line with bytes that are not UTF-8 (kept)", \
	  "lines with bytes that are not UTF-8 (kept)") \
	X(LOSS_LINES_NUL, "lines_with_nul", "line with NUL bytes (kept)", \
	  "lines with NUL bytes (kept)") \
	X(LOSS_TIME_RANGE, "times_out_of_range", "time out of range", "times out of range") \
	X(LOSS_TIME_BACK, "times_going_back", \
	  "line older than the line before by more than a second", \
	  "lines older than the line before by more than a second") \
	X(LOSS_YEAR_GUESSED, "years_guessed", "time whose year was guessed", \
	  "times whose year was guessed") \
	X(LOSS_DATE_GUESSED, "dates_guessed", "time whose date was guessed", \
	  "times whose date was guessed") \
	X(LOSS_ZONE_GUESSED, "zones_guessed", "time whose zone was taken to be the local one", \
	  "times whose zone was taken to be the local one") \
	X(LOSS_UNITS_GUESSED, "units_guessed", "duration without a unit, whose unit was guessed", \
	  "durations without a unit, whose unit was guessed") \
	X(LOSS_JSON_BROKEN, "json_broken", "JSON document that does not parse", \
	  "JSON documents that do not parse") \
	X(LOSS_JSON_FOREIGN, "json_of_other_kind", "JSON document of another kind than its file", \
	  "JSON documents of another kind than their file") \
	X(LOSS_PROTO_BROKEN, "protobuf_broken", "protobuf message that does not parse", \
	  "protobuf messages that do not parse") \
	X(LOSS_METRICS_SKIPPED, "metrics_skipped", \
	  "metric, which says nothing of single requests", \
	  "metrics, which say nothing of single requests") \
	X(LOSS_SPANS_BROKEN, "spans_broken", "span without an id or a time", \
	  "spans without an id or a time") \
	X(LOSS_SPANS_TWICE, "spans_twice", \
	  "span seen twice (same trace, id, name, times), counted once", \
	  "spans seen twice (same trace, id, name, times), counted once") \
	X(LOSS_SPAN_IDS_SHARED, "span_ids_shared", \
	  "span that shares its id with another span of the trace", \
	  "spans that share their id with another span of the trace") \
	X(LOSS_SPANS_OPEN, "spans_open", \
	  "span that was never closed (taken to end with the last thing seen)", \
	  "spans that were never closed (taken to end with the last thing seen)") \
	X(LOSS_LINES_OUTSIDE, "lines_outside_requests", \
	  "log line that no recorded request wrote (left out)", \
	  "log lines that no recorded request wrote (left out)") \
	X(LOSS_SPANS_NEGATIVE, "spans_negative", \
	  "span that ends before it starts (taken as an instant)", \
	  "spans that end before they start (taken as instants)") \
	X(LOSS_SPANS_OUTSIDE, "spans_outside_parent", \
	  "span that lies outside its parent, even after clock correction", \
	  "spans that lie outside their parent, even after clock correction") \
	X(LOSS_PARENTS_MISSING, "parents_missing", "span whose parent is not in the input", \
	  "spans whose parent is not in the input") \
	X(LOSS_PARENTS_CIRCLE, "parents_in_circle", \
	  "span that is its own ancestor (taken as a root)", \
	  "spans that are their own ancestors (taken as roots)") \
	X(LOSS_EVENTS_BROKEN, "events_broken", "event without an id or a time", \
	  "events without an id or a time") \
	X(LOSS_AFTER_MISSING, "predecessors_missing", \
	  "reference to an event that is not in the input", \
	  "references to events that are not in the input") \
	X(LOSS_PACKETS_BROKEN, "packets_broken", "place in a capture that does not parse", \
	  "places in a capture that do not parse") \
	X(LOSS_PACKETS_CUT, "packets_cut", "packet of which only the front was captured", \
	  "packets of which only the front was captured") \
	X(LOSS_PACKETS_NO_TIME, "packets_without_time", \
	  "packet without a time (given that of the one before)", \
	  "packets without a time (given that of the one before)") \
	X(LOSS_PACKETS_OTHER, "packets_of_other_kind", "packet that is neither TCP nor UDP", \
	  "packets that are neither TCP nor UDP") \
	X(LOSS_PACKETS_DROPPED, "packets_dropped", "packet that came too fast to be captured", \
	  "packets that came too fast to be captured") \
	X(LOSS_PACKETS_DROPPED_BELOW, "packets_dropped_by_interface", \
	  "packet that the network interface dropped", \
	  "packets that the network interface dropped") \
	X(LOSS_SOCKET_CALLS_DROPPED, "socket_calls_dropped", \
	  "call on a socket that came too fast to be recorded", \
	  "calls on sockets that came too fast to be recorded") \
	X(LOSS_CAPTURES_ENDED, "captures_ended_early", \
	  "live capture that ended by itself, as its interface went away", \
	  "live captures that ended by themselves, as their interfaces went away") \
	X(LOSS_PACKETS_TWICE, "packets_twice", "packet seen or sent a second time, counted once", \
	  "packets seen or sent a second time, counted once") \
	X(LOSS_FRAGMENTS_OPEN, "fragments_open", "fragmented packet of which a part is missing", \
	  "fragmented packets of which a part is missing") \
	X(LOSS_STREAMS_MIDWAY, "connections_joined_midway", \
	  "connection that was open before the capture began", \
	  "connections that were open before the capture began") \
	X(LOSS_STREAMS_FORGOTTEN, "connections_forgotten", \
	  "open connection given up, as there were too many at once", \
	  "open connections given up, as there were too many at once") \
	X(LOSS_STREAM_GAPS, "stream_gaps", "gap in a connection that the capture does not have", \
	  "gaps in connections that the capture does not have") \
	X(LOSS_PROTOCOL_LOST, "protocol_lost", \
	  "place in a connection where its messages could not be told apart", \
	  "places in connections where their messages could not be told apart") \
	X(LOSS_MESSAGES_BY_TURN, "messages_by_turn", \
	  "message guessed from who speaks, as the protocol is not known", \
	  "messages guessed from who speaks, as the protocol is not known") \
	X(LOSS_CALLS_OPEN, "calls_without_return", "call without a return", \
	  "calls without a return") \
	X(LOSS_RETURNS_OPEN, "returns_without_call", "return without a call", \
	  "returns without a call") \
	X(LOSS_CALLERS_GUESSED, "callers_guessed", \
	  "kind of call that was given to one of several services of its host", \
	  "kinds of calls that were given to one of several services of their host") \
	X(LOSS_MESSAGES_NO_ID, "messages_without_id", "message without an id, in no request", \
	  "messages without an id, in no request") \
	X(LOSS_MESSAGES_TWICE, "messages_twice", \
	  "message that several captures saw, counted once", \
	  "messages that several captures saw, counted once") \
	X(LOSS_MESSAGES_UNPLACED, "messages_in_no_path", \
	  "message that follows no other by a delay that recurs, in no request", \
	  "messages that follow no other by a delay that recurs, in no request") \
	X(LOSS_ROUTES_SKIPPED, "routes_not_compared", \
	  "pair of routes that was not compared, as there were too many", \
	  "pairs of routes that were not compared, as there were too many") \
	X(LOSS_CAUSES_CIRCULAR, "causes_in_circles", \
	  "cause left out, as the events named before each other lead in a circle", \
	  "causes left out, as the events named before each other lead in a circle") \
	X(LOSS_CLOCKS_CORRECTED, "clocks_corrected", "node whose clock was corrected", \
	  "nodes whose clock was corrected") \
	X(LOSS_CLOCKS_UNSURE, "clocks_unsure", "node whose clock seems off but was not corrected", \
	  "nodes whose clock seems off but was not corrected") \
	X(LOSS_LINES_UNPLACED, "lines_in_no_request", \
	  "log line that carries no name of a request", \
	  "log lines that carry no name of a request") \
	X(LOSS_LINES_NO_STATEMENT, "lines_without_statement", \
	  "log line that no statement of the program given wrote", \
	  "log lines that no statement of the program given wrote") \
	X(LOSS_PATHS_RARE, "requests_of_rare_paths", \
	  "request left out of the patterns of paths, which are too many", \
	  "requests left out of the patterns of paths, which are too many") \
	X(LOSS_REQUESTS_SAMPLED, "requests_sampled", \
	  "request that was not looked into: a sample stands for all (--sample)", \
	  "requests that were not looked into: a sample stands for all (--sample)") \
	X(LOSS_OBJECTS_MOMENT, "objects_of_a_moment", \
	  "object that is named at one moment only (no request at the level of objects)", \
	  "objects that are named at one moment only (no requests at the level of objects)") \
	X(LOSS_OBJECT_SPANS_LEFT, "object_spans_left_out", \
	  "object below another beyond the number that is shown as its spans", \
	  "objects below others beyond the number that is shown as their spans") \
	X(LOSS_OBJECT_TIMES_LEFT, "object_times_left_out", \
	  "line that names an object and whose time is not told (objects --events: of a kind the " \
	  "first and the last)", \
	  "lines that name objects and whose times are not told (objects --events: of a kind " \
	  "the first and the last)") \
	X(LOSS_OBJECTS_NOT_WEIGHED, "objects_not_weighed", \
	  "object of so many that what they wait for is looked at only when asked (objects " \
	  "--why)", \
	  "objects, so many that what they wait for is looked at only when asked (objects --why)") \
	X(LOSS_SILENCES_LEFT, "silences_left_out", \
	  "silence of an object beyond the number that is looked at", \
	  "silences of objects beyond the number that is looked at") \
	X(LOSS_TYPES_SKIPPED, "types_not_compared", "rare type of request that was not compared", \
	  "rare types of requests that were not compared") \
	X(LOSS_WORK_SKIPPED, "work_not_compared", \
	  "piece of work that was not compared between nodes, as there were too many", \
	  "pieces of work that were not compared between nodes, as there were too many") \
	X(LOSS_IDS_NO_SCOPE, "ids_without_scope", \
	  "line that names a number without telling of what (not used for objects)", \
	  "lines that name a number without telling of what (not used for objects)") \
	X(LOSS_IDS_LEFT, "ids_left_out", \
	  "identifier of a line that names too many (not used for objects)", \
	  "identifiers of lines that name too many (not used for objects)") \
	X(LOSS_NAMES_ONCE, "names_once", \
	  "name of a type whose names hardly ever come again (no object)", \
	  "names of types whose names hardly ever come again (no objects)") \
	X(LOSS_TYPES_IDLE, "types_idle", "type of --types that nothing is shown as", \
	  "types of --types that nothing is shown as") \
	X(LOSS_LIVES_GUESSED, "lives_guessed", \
	  "object told apart from an earlier one of the same number by silence alone", \
	  "objects told apart from earlier ones of the same number by silence alone") \
	X(LOSS_LIVES_LEFT, "lives_left", \
	  "time that a number was given out again, beyond those told apart", \
	  "times that a number was given out again, beyond those told apart") \
	X(LOSS_MENTIONS_FORGOTTEN, "mentions_forgotten", \
	  "line about objects that ended long ago, forgotten for want of memory", \
	  "lines about objects that ended long ago, forgotten for want of memory") \
	X(LOSS_PARTS_FOLDED, "parts_folded", \
	  "part of an interval that fell in with others of the same caller, which has too many", \
	  "parts of intervals that fell in with others of the same caller, which has too many") \
	X(LOSS_INTERVALS_OPEN, "intervals_open", "interval that began and was never seen to end", \
	  "intervals that began and were never seen to end") \
	X(LOSS_INTERVALS_GIVEN_UP, "intervals_given_up", \
	  "interval given up, as too many were under way at once", \
	  "intervals given up, as too many were under way at once") \
	X(LOSS_INTERVALS_PARTIAL, "intervals_partial", \
	  "interval of which something was lost or guessed", \
	  "intervals of which something was lost or guessed") \
	X(LOSS_INTERVALS_AROUND, "intervals_around_others", \
	  "interval left out, as those inside it had been told", \
	  "intervals left out, as those inside them had been told") \
	X(LOSS_MARKS_NO_VALUE, "marks_without_value", \
	  "mark of an interval whose name could not be read", \
	  "marks of intervals whose names could not be read") \
	X(LOSS_MARKS_UNKNOWN, "marks_of_no_interval", \
	  "mark that names an interval that is not under way", \
	  "marks that name intervals that are not under way") \
	X(LOSS_HANDOFFS_GUESSED, "handoffs_guessed", \
	  "hand-off between threads that was guessed from who worked before", \
	  "hand-offs between threads that were guessed from who worked before") \
	X(LOSS_CALLS_LATE, "function_calls_late", \
	  "call of a function that was told too late or never", \
	  "calls of functions that were told too late or never") \
	X(LOSS_CALLS_LEFT, "function_calls_left_out", \
	  "call of a function beyond the tree that is kept (its time is its caller's)", \
	  "calls of functions beyond the tree that is kept (their time is their callers')") \
	X(LOSS_CALLS_SHARED, "function_calls_shared", \
	  "group of equal calls that was divided between intervals by proportion", \
	  "groups of equal calls that were divided between intervals by proportion") \
	X(LOSS_INTERVALS_BETWEEN, "intervals_between_rounds", \
	  "interval under way while the set of watched functions changed (left out)", \
	  "intervals under way while the set of watched functions changed (left out)") \
	X(LOSS_CALLS_DROPPED, "function_calls_dropped", \
	  "call of a function that came too fast to be kept", \
	  "calls of functions that came too fast to be kept") \
	X(LOSS_CALLS_DEEP, "function_calls_too_deep", \
	  "call of a function too deep in others to be watched", \
	  "calls of functions too deep in others to be watched") \
	X(LOSS_CALLS_GENERATED, "function_calls_from_generated_code", \
	  "call from code that the program has made itself (not told: what made it looks at " \
	  "return " \
	  "addresses)", \
	  "calls from code that the program has made itself (not told: what made it looks at " \
	  "return " \
	  "addresses)") \
	X(LOSS_CHANGES_DROPPED, "thread_changes_dropped", \
	  "time that a thread stopped, ran or was woken that came too fast to be kept", \
	  "times that threads stopped, ran or were woken that came too fast to be kept") \
	X(LOSS_FUNCTIONS_REFUSED, "functions_not_watched", \
	  "function that cannot be watched (its time is that of its caller)", \
	  "functions that cannot be watched (their time is that of their callers)") \
	X(LOSS_FUNCTIONS_TOLD, "functions_named_by_texts", \
	  "watched function without a symbol, named by a text that it refers to (name?)", \
	  "watched functions without a symbol, named by texts that they refer to (name?)") \
	X(LOSS_FUNCTIONS_HOT, "functions_too_busy", \
	  "function called so often that it is not watched (its time is that of its caller)", \
	  "functions called so often that they are not watched (their time is that of their " \
	  "callers)") \
	X(LOSS_ROWS_DROPPED, "rows_dropped", \
	  "row of a live query that was dropped, as there were too many or too many groups", \
	  "rows of live queries that were dropped, as there were too many or too many groups") \
	X(LOSS_VALUES_NO_NUMBER, "values_not_numbers", \
	  "value that an aggregate passed over, as it is no number", \
	  "values that aggregates passed over, as they are no numbers") \
	X(LOSS_PERCENTILES_COARSE, "percentiles_coarse", \
	  "percentile of so many different numbers that it is told by ranges (docs/query.md)", \
	  "percentiles of so many different numbers that they are told by ranges (docs/query.md)") \
	X(LOSS_REPORTS_TWICE, "reports_twice", "report of an agent that came twice, counted once", \
	  "reports of agents that came twice, counted once") \
	X(LOSS_REPORTS_LATE, "reports_late", \
	  "report of an agent that came after its second had been told (in the totals)", \
	  "reports of agents that came after their second had been told (in the totals)") \
	X(LOSS_REPORTS_MISSING, "reports_missing", "report of an agent that never came", \
	  "reports of agents that never came") \
	X(LOSS_REPORTS_BROKEN, "reports_broken", "report of an agent that makes no sense", \
	  "reports of agents that make no sense") \
	X(LOSS_REPORTS_JOINED, "reports_joined", \
	  "report that was put together with its neighbour in time, as the hub was away", \
	  "reports that were put together with their neighbours in time, as the hub was away") \
	X(LOSS_SECONDS_MISSED, "seconds_missed", \
	  "part of a second that came too late or was not read in time (in the totals only)", \
	  "parts of seconds that came too late or were not read in time (in the totals only)") \
	X(LOSS_AGENTS_SILENT, "agents_silent", \
	  "second of an agent that should have reported and did not", \
	  "seconds of agents that should have reported and did not") \
	X(LOSS_ROWS_INCOMPLETE, "rows_incomplete", \
	  "row of a live query that may lack something, as a request carried too much", \
	  "rows of live queries that may lack something, as requests carried too much") \
	X(LOSS_ROWS_CUT, "rows_cut", "row of a live query with a text that was cut short", \
	  "rows of live queries with texts that were cut short") \
	X(LOSS_ROWS_BROKEN, "rows_broken", \
	  "row that a watched process told and that makes no sense", \
	  "rows that watched processes told and that make no sense") \
	X(LOSS_TUPLES_LOST, "tuples_lost", \
	  "tuple that a request could not carry on, as it carried too much or was not watched", \
	  "tuples that requests could not carry on, as they carried too much or were not " \
	  "watched") \
	X(LOSS_BAGS_GONE, "bags_gone", \
	  "message whose sender carried something that its reader did not find any more", \
	  "messages whose senders carried something that their readers did not find any more") \
	X(LOSS_BAGS_UNPLACED, "bags_unplaced", \
	  "call on a connection of which nobody knows how many bytes it has carried", \
	  "calls on connections of which nobody knows how many bytes they have carried") \
	X(LOSS_BAGS_GUESSED, "bags_guessed", \
	  "request that was read together with the one before it, and was taken to begin when " \
	  "that one was answered", \
	  "requests that were read together with the one before them, and were taken to begin " \
	  "when that one was answered") \
	X(LOSS_BAGS_MIXED, "bags_mixed", \
	  "message that was read together with others and could not be told from them", \
	  "messages that were read together with others and could not be told from them") \
	X(LOSS_BAGS_CORRECTED, "bags_corrected", \
	  "connection whose bytes were counted wrongly for a moment, as a call passed us by", \
	  "connections whose bytes were counted wrongly for a moment, as calls passed us by") \
	X(LOSS_BAGS_DOUBTED, "bags_doubted", \
	  "message of whose bytes its sender's watch does not know, which was not taken up", \
	  "messages of whose bytes their senders' watch does not know, which were not taken up") \
	X(LOSS_BAGS_FOREIGN, "bags_foreign", \
	  "request from a host of which no agent is heard, which began with nothing", \
	  "requests from hosts of which no agent is heard, which began with nothing") \
	X(LOSS_BAGS_LATE, "bags_late", \
	  "row, or rows, left out, as another host did not hand over in time what they join", \
	  "tracepoints whose rows were left out, as other hosts did not hand over in time what " \
	  "they join") \
	X(LOSS_BAGS_UNKEPT, "bags_unkept", \
	  "hand-over inside a virtual machine, or header, that had no room for what was carried", \
	  "hand-overs inside virtual machines, or headers, that had no room for what was carried") \
	X(LOSS_BAGS_SHARED, "bags_shared", \
	  "hand-over by an object that is everybody's (a number, a text), or that several " \
	  "requests " \
	  "handed over at once", \
	  "hand-overs by objects that are everybody's (numbers, texts), or that several requests " \
	  "handed over at once") \
	X(LOSS_MACHINES_MISSED, "machines_missed", \
	  "Java machine that a watched process started, and that could not be entered, or ended " \
	  "before", \
	  "Java machines that watched processes started, and that could not be entered, or ended " \
	  "before") \
	X(LOSS_MACHINES_LATE, "machines_late", \
	  "Java machine that a watched process started, and that had begun its work when it was " \
	  "entered: what it did before is missing", \
	  "Java machines that watched processes started, and that had begun their work when they " \
	  "were entered: what they did before is missing") \
	X(LOSS_VALUES_UNREAD, "values_unread", \
	  "variable of a tracepoint whose memory could not be read (null)", \
	  "variables of tracepoints whose memory could not be read (null)") \
	X(LOSS_ADVICE_CUT, "advice_cut", \
	  "tracepoint at which a query ended early, or met something that makes no sense", \
	  "tracepoints at which a query ended early, or met something that makes no sense") \
	X(LOSS_ADVICE_UNSEEN, "advice_unseen", \
	  "tracepoint reached by a thread for which there was no room", \
	  "tracepoints reached by threads for which there was no room") \
	X(LOSS_ADVICE_LIMITED, "advice_limited", \
	  "tracepoint left out, as threads pass it so often that asking would cost more than " \
	  "--overhead", \
	  "tracepoints left out, as threads pass them so often that asking would cost more than " \
	  "--overhead") \
	X(LOSS_ADVICE_ASLEEP, "advice_asleep", \
	  "tracepoint passed while the watch of its process got no processor for two seconds", \
	  "tracepoints passed while the watch of their process got no processor for two " \
	  "seconds") \
	X(LOSS_PASSES_DROPPED, "passes_dropped", \
	  "tracepoint, watched from outside, that was passed faster than the kernel could tell " \
	  "it", \
	  "tracepoints, watched from outside, that were passed faster than the kernel could tell " \
	  "them") \
	X(LOSS_BAGS_UNREAD, "bags_unread", \
	  "tracepoint, watched from outside, at which what its request carried could not be read", \
	  "tracepoints, watched from outside, at which what their requests carried could not be " \
	  "read") \
	X(LOSS_PLACES_LEFT, "places_left", \
	  "tracepoint that is passed so often that watching it would slow " \
	  "the program down: it is not watched any more", \
	  "tracepoints that are passed so often that watching them would " \
	  "slow the program down: they are not watched any more") \
	X(LOSS_TEXT_GONE, "texts_gone", \
	  "log line whose file is gone or has changed, so that it cannot be shown", \
	  "log lines whose file is gone or has changed, so that they cannot be shown")

enum loss {
#define LOSS_ENUM(id, name, one, several) id,
	LOSSES(LOSS_ENUM)
#undef LOSS_ENUM
		LOSS_NR
};

/* Zero is "nothing lost". */
struct losses {
	uint64_t count[LOSS_NR];
};

const char *loss_name(enum loss loss);
/* What stands behind the count. */
const char *loss_text(enum loss loss, uint64_t count);
bool loss_find(const char *name, enum loss *loss);
/* Of finding objects: nothing to questions that do not look at them. */
bool loss_is_of_objects(enum loss loss);
void losses_add(struct losses *to, const struct losses *from);
/* Where both have counted the same things, one of them for longer. */
void losses_most(struct losses *to, const struct losses *from);

#endif
