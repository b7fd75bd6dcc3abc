"""One network, A and B with their child C, as each program writes it."""

BNLEARN = """network unknown {
}
variable A {
  type discrete [ 2 ] { yes, no };
}
variable B {
  type discrete [ 2 ] { <5, 12+ };
}
variable C {
  type discrete [ 2 ] { yes, no };
}
probability ( A ) {
  table 0.2, 0.8;
}
probability ( B ) {
  table 0.5, 0.5;
}
probability ( C | A, B ) {
  (yes, <5) 0.9, 0.1;
  (no, <5) 0.3, 0.7;
  (yes, 12+) 0.8, 0.2;
  (no, 12+) 0.05, 0.95;
}
"""

PGMPY = """network unknown {
}
variable A {
    type discrete [ 2 ] { A_0, A_1 };
    property weight = None ;
}
variable B {
    type discrete [ 2 ] { B_0, B_1 };
}
variable C {
    type discrete [ 2 ] { C_0, C_1 };
}
probability ( A ) {
    table 0.2, 0.8 ;
}
probability ( B ) {
    table 0.5, 0.5 ;
}
probability ( C | A, B ) {
    table 0.9, 0.8, 0.3, 0.05, 0.1, 0.2, 0.7, 0.95 ;

}
"""

AGRUM = """network "small" {
// written by aGrUM
   property software aGrUM;
}

variable A {
   type discrete[2] {0, 1};
}
variable B {
   type discrete[2] {0, 1};
}
variable C {
   type discrete[2] {0, 1};
}

probability (A) {
   default 0.2 0.8;
}
probability (B) {
   default 0.5 0.5;
}
probability (C | A, B) {
   (0, 0) 0.9 0.1;
   (1, 0) 0.3 0.7;
   (0, 1) 0.8 0.2;
   (1, 1) 0.05 0.95;
}
"""

JAVABAYES = """// Bayesian Network in the Interchange Format
network "Small" { //3 variables and 3 probability distributions
}
variable  "A" { //2 values
	type discrete[2] {  "True"  "False" };
	property "position = (54, 35)" ;
}
variable  "B" { //2 values
	type discrete[2] {  "True"  "False" };
}
variable  "C" { //2 values
	type discrete[2] {  "True"  "False" };
}
probability (  "A" ) { //1 variable(s) and 2 values
	table 0.2 0.8 ;
}
probability (  "B" ) { //1 variable(s) and 2 values
	table 0.5 0.5 ;
}
probability (  "C"  "A"  "B" ) { //3 variable(s) and 8 values
	table 0.9 0.8 0.3 0.05 0.1 0.2 0.7 0.95 ;
}
"""

XMLBIF = """<?xml version="1.0" encoding="US-ASCII"?>
<!DOCTYPE BIF [
  <!ELEMENT BIF ( NETWORK )*>
  <!ATTLIST BIF VERSION CDATA #REQUIRED>
  <!ELEMENT NETWORK ( NAME, ( PROPERTY | VARIABLE | DEFINITION )* )>
]>
<BIF VERSION="0.3" xmlns="http://www.cs.ubc.ca/labs/lci/fopi/ve/XMLBIFv0_3">
<NETWORK>
<NAME>small</NAME>
<VARIABLE TYPE="nature"><NAME> A </NAME><OUTCOME>yes</OUTCOME><OUTCOME>no</OUTCOME></VARIABLE>
<VARIABLE TYPE="nature"><NAME>B</NAME><OUTCOME>&lt;5</OUTCOME><OUTCOME>12+</OUTCOME></VARIABLE>
<VARIABLE TYPE="nature"><NAME>C</NAME><OUTCOME>yes</OUTCOME><OUTCOME>no</OUTCOME>
  <PROPERTY>position = (1, 2)</PROPERTY></VARIABLE>
<DEFINITION><FOR>A</FOR><TABLE>0.2 0.8</TABLE></DEFINITION>
<DEFINITION><FOR>B</FOR><TABLE>0.5 0.5</TABLE></DEFINITION>
<DEFINITION><FOR>C</FOR><GIVEN>A</GIVEN><GIVEN>B</GIVEN><TABLE>
  0.9 0.1 <!-- yes <5 -->
  0.8 0.2
  0.3 0.7
  0.05 0.95</TABLE></DEFINITION>
</NETWORK>
</BIF>
"""

HUGIN = """net
{
    node_size = (80 40);
    HR_Color_Interface = "17";
}
node A
{
    label = "the first";
    position = (100 100);
    states = ("yes" "no");
}
discrete node B
{
    states = ("<5" "12+");
}
node C
{
    states = ("yes" "no");
}
potential (A)
{
    data = ( 0.2 0.8 );
}
potential (B)
{
    data = ( 0.5 0.5 );
}
potential (C | A B)
{
    data = (((	0.9	0.1	)	%  A=yes  B=<5
             (	0.8	0.2	))	%  A=yes  B=12+
            ((	0.3	0.7	)	%  A=no  B=<5
             (	0.05	0.95	)));	%  A=no  B=12+
}
"""

GENIE = """<?xml version="1.0" encoding="UTF-8"?>
<smile version="1.0" id="small" numsamples="1000" discsamples="10000">
	<nodes>
		<cpt id="A">
			<state id="yes" />
			<state id="no" />
			<probabilities>0.2 0.8</probabilities>
		</cpt>
		<cpt id="B">
			<state id="below_5" />
			<state id="above_12" />
			<probabilities>0.5 0.5</probabilities>
		</cpt>
		<cpt id="C">
			<state id="yes" />
			<state id="no" />
			<parents>A B</parents>
			<probabilities>0.9 0.1 0.8 0.2 0.3 0.7 0.05 0.95</probabilities>
		</cpt>
	</nodes>
	<extensions>
		<genie version="1.0" app="GeNIe" name="small"><node id="A"><name>the first</name></node></genie>
	</extensions>
</smile>
"""

UAI = """BAYES
3
2 2 2
3
1 0
1 1
3 0 1 2

2
 0.2 0.8

2
 0.5 0.5

8
 0.9 0.1
 0.8 0.2
 0.3 0.7
 0.05 0.95
"""

JSON = """{
  "format": "bayeslearn network",
  "version": 1,
  "name": "small",
  "variables": [
    {"name": "A", "kind": "discrete", "states": ["yes", "no"]},
    {"name": "B", "kind": "discrete", "states": [true, false], "cuts": [0.5]}
  ],
  "cpts": [
    {"variable": "A", "parents": [], "p": [0.2, 0.8]},
    {"variable": "B", "parents": ["A"], "p": [[0.1, 0.9], [1, 0]], "counts": [[1, 9], [3, 0]]}
  ]
}
"""

#: A text to break, for each format (BIF in its dialects).
TEXTS = [
    ("bif", BNLEARN),
    ("bif", AGRUM),
    ("bif", JAVABAYES),
    ("xmlbif", XMLBIF),
    ("net", HUGIN),
    ("xdsl", GENIE),
    ("uai", UAI),
    ("json", JSON),
]
